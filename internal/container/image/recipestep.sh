#!/bin/sh
# Carries out one step of a Dockerfile in a build container:
#   step run USER FOLDER NAME=VALUE... PROGRAM...
#   step copy FROM TO file|folder OWNER MODE
#   step mkdir FOLDER
set -e

refuse() {
	echo "$1" >&2
	exit 125
}

# find_user USER[:GROUP] sets uid, gid, home and name.
find_user() {
	user=${1%%:*} group= uid= gid= home=/ name=
	case $1 in *:*) group=${1#*:} ;; esac
	[ -n "$user" ] || user=root
	while IFS=: read -r n _ i g _ h _; do
		if [ "$n" = "$user" ] || [ "$i" = "$user" ]; then
			uid=$i gid=$g home=$h name=$n
			break
		fi
	done </etc/passwd
	if [ -z "$uid" ]; then
		case $user in
		root) uid=0 gid=0 home=/root name=root ;;
		*[!0-9]*) refuse "the image has no user $user" ;;
		*) uid=$user gid=0 ;;
		esac
	fi
	[ -n "$group" ] || return 0
	gid=
	while IFS=: read -r n _ i _; do
		if [ "$n" = "$group" ] || [ "$i" = "$group" ]; then gid=$i; fi
	done </etc/group
	if [ -z "$gid" ]; then
		case $group in
		*[!0-9]*) refuse "the image has no group $group" ;;
		*) gid=$group ;;
		esac
	fi
}

run() {
	find_user "$1"
	cd "$2"
	shift 2
	set -- env -i "HOME=$home" "$@"
	if [ "$uid" = 0 ] && [ "$gid" = 0 ]; then exec "$@"; fi
	if setpriv --reuid "$uid" --regid "$gid" --clear-groups true 2>/dev/null; then
		exec setpriv --reuid "$uid" --regid "$gid" --clear-groups "$@"
	fi
	[ -n "$name" ] || refuse "the image has no setpriv to run a step as $uid"
	exec su -p -s /bin/sh -c 'exec "$@"' -- "$name" sh "$@"
}

# put moves the files of a folder to another one.
put() {
	for f in "$1"/* "$1"/.[!.]* "$1"/..?*; do
		if [ -e "$f" ] || [ -L "$f" ]; then cp -a "$f" "$2"; fi
	done
}

copy() {
	from=$1 to=$2 kind=$3 owner=$4 mode=$5
	case $owner in
	'') owner=0:0 ;;
	*:*) ;;
	*[!0-9]*) owner=$owner: ;;
	*) owner=$owner:$owner ;;
	esac
	if [ -n "$mode" ]; then find "$from" -mindepth 1 ! -type l -exec chmod "$mode" {} +; fi
	chown -hR "$owner" "$from"
	if [ "$kind" = folder ] || [ -d "$to" ]; then
		if [ ! -d "$to" ]; then
			mkdir -p "$to"
			chown "$owner" "$to"
		fi
		put "$from" "$to/"
		return
	fi
	mkdir -p "${to%/*}/"
	put "$from" "$to"
}

what=$1
shift
case $what in
run) run "$@" ;;
copy) copy "$@" ;;
mkdir) mkdir -p "$1" ;;
*) refuse "no step is called $what" ;;
esac
