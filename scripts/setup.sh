#!/bin/sh
# Makes this machine ready for company: Go is checked; git, ssh, mmdebstrap
# (it builds worker images) and a Docker daemon are installed and started where
# that is possible (root on Debian or Ubuntu). Everything else is said in one
# line. Safe to run again and again: a machine that is ready is left alone. It also
# downloads the modules of the build, so that a proxy that is away is said here.
#
# A dockerd started here stays. Its pid is in $marker, so that whoever wants to
# stop it stops that one and no other.
set -eu

marker=/run/company-setup-dockerd.pid
pidfile=/var/run/docker.pid
log=/var/log/company-dockerd.log
root=$(cd "$(dirname "$0")/.." && pwd)
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH

. "$root/scripts/fetch.sh"
has() { command -v "$1" >/dev/null 2>&1; }
answers() { has docker && timeout 20 docker version >/dev/null 2>&1; }

# Go: at least what go.mod asks for. Asked from /, so that no go.mod here makes
# it download another one.
want=$(sed -n 's/^go //p' "$root/go.mod")
has go || die "Go $want or newer is missing: install it from https://go.dev/dl and put it into PATH"
have=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
have=${have#go}
have=${have%% *}
[ "$(printf '%s\n%s\n' "$want" "$have" | sort -V | head -n1)" = "$want" ] ||
	die "Go $have is too old, $want or newer is needed: install it from https://go.dev/dl"

cd "$root"
for dir in / "${TMPDIR:-/tmp}" "$HOME" /var/lib/docker; do
	[ -d "$dir" ] || continue
	free=$(df -Pk "$dir" | awk 'NR == 2 { print int($4 / 1024) }')
	[ "$free" -ge 2048 ] || die "$free MB are free at $dir, and a build with worker images takes 2,048: make room (df -h; docker system prune, go clean -cache)"
done
fetch "modules of Go" go mod download

missing=
need() { has "$1" || missing="$missing $2"; }
need git git
need mmdebstrap mmdebstrap
need ssh openssh-client
# The tests of ssh remotes start one of their own; the program does not need it.
[ -x /usr/sbin/sshd ] || missing="$missing openssh-server"
# So do those of the registries' mirrors with the clients of npm, PyPI and crates.
if [ "${1:-}" = test ]; then
	need npm npm
	need tmux tmux # of the test that types the README
	need dpkg-source dpkg-dev # of test/strangers
	need lowntfs-3g ntfs-3g # a disk that folds case, of test/e2e
	# The browser of the tests of the page. Ubuntu's package of that name is a snap, which
	# starts in no container; the tests then say that they need one.
	if ! has chromium && apt-cache policy chromium 2>/dev/null | grep -q 'Candidate: [0-9]' &&
		! apt-cache show chromium 2>/dev/null | grep -qi '^Depends:.*snapd'; then
		missing="$missing chromium"
	elif ! has chromium; then
		say "no browser for the tests of the page: install Debian's chromium, or put a chromium into PATH"
	fi
	python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
	# Cargo speaks the sparse protocol of the mirrors since 1.68. Debian 12 has
	# 0.66 under its name, and a new one beside it for its browsers.
	cargo=$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
	[ "${cargo:-0}" -ge 68 ] || missing="$missing $(apt-cache show cargo-web >/dev/null 2>&1 && echo cargo-web || echo cargo)"
fi
[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing="$missing debian-archive-keyring"
[ -e /etc/ssl/certs/ca-certificates.crt ] || [ -d /etc/pki ] || missing="$missing ca-certificates"
up=false
denied=false # a daemon is there, and this user may not talk to it
if answers; then
	up=true
elif has docker && LC_ALL=C timeout 20 docker version 2>&1 | grep -q 'permission denied'; then
	denied=true
elif [ -n "${DOCKER_HOST:-}" ]; then
	# The operator chose a daemon; starting another one would not help.
	need docker docker.io
	[ -n "$missing" ] || die "no Docker daemon answers at DOCKER_HOST=$DOCKER_HOST: start it, or unset DOCKER_HOST"
else
	need docker docker.io
	need dockerd docker.io
	need iptables iptables
fi
if $up && [ -z "$missing" ]; then
	exit 0
fi

missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
missing=${missing% }
if [ "$(id -u)" != 0 ]; then
	[ -z "$missing" ] || die "missing: $missing. Run as root: apt-get install --no-install-recommends $missing"
	user=$(id -un)
	! $denied || die "Docker runs, but $user may not use it: sudo usermod -aG docker $user, then log in again"
	die "no Docker daemon answers: start it (sudo systemctl start docker), or set DOCKER_HOST"
fi

# Two at once must not both install or both start a daemon. The daemon must not
# inherit the lock, or it would hold it for good.
if has flock; then
	exec 9>/run/company-setup.lock
	flock -w 900 9 || die "another set-up has been running for 15 minutes"
fi

if [ -n "$missing" ]; then
	has apt-get || die "missing: $missing. Install these packages with this system's package manager"
	export DEBIAN_FRONTEND=noninteractive
	# A source that does not answer is no matter, unless a package is missing then.
	fetch "packages: $missing" sh -c 'apt-get update; apt-get install -y --no-install-recommends "$@"' sh $missing
fi

if ! answers; then
	[ -z "${DOCKER_HOST:-}" ] || die "no Docker daemon answers at DOCKER_HOST=$DOCKER_HOST: start it, or unset DOCKER_HOST"
	pid=
	if [ -d /run/systemd/system ] && has systemctl; then
		say "starting docker.service"
		timeout 90 systemctl start docker 9>&- || die "docker.service does not start: see journalctl -u docker"
	else
		# A daemon that is being stopped answers no more, but its file refuses the next one until it has ended. So
		# does the file of one that was killed, if another process has its number by now.
		tries=0
		while [ "$(cat "/proc/$(cat $pidfile 2>/dev/null)/comm" 2>/dev/null)" = dockerd ] && [ $tries -lt 300 ]; do
			tries=$((tries + 1))
			sleep 0.2
		done
		[ "$(cat "/proc/$(cat $pidfile 2>/dev/null)/comm" 2>/dev/null)" = dockerd ] || rm -f $pidfile
		say "starting dockerd (log: $log)"
		setsid dockerd </dev/null >"$log" 2>&1 9>&- &
		pid=$!
		echo "$pid" >"$marker"
	fi
	tries=0
	until answers; do
		if [ -n "$pid" ] && ! kill -0 "$pid" 2>/dev/null; then
			rm -f "$marker"
			die "dockerd ended: $(tail -n1 "$log")"
		fi
		tries=$((tries + 1))
		[ "$tries" -lt 300 ] || die "dockerd does not answer after a minute: see $log"
		sleep 0.2
	done
fi
say "ready"
