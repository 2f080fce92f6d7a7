# Each client's list has a line for each directory of a node_modules, "" or with a
# slash at its end. The links are one per package, so that resolving a package
# leads to where all others lie beside it, and what tools write into
# node_modules stays here. What pnpm has installed lies in
# .prepared, where its programs look for it; yarn finds programs by its list.
for list in "$deps"/*.dirs; do
	[ -f "$list" ] || continue
	while IFS= read -r dir; do
		from=${list%.dirs}/${dir}node_modules
		to=${dir}node_modules
		[ -f "${dir}package.json" ] || continue
		if [ -e "$to" ] || [ -L "$to" ]; then continue; fi
		mkdir "$to" || continue
		set --
		for entry in "$from"/*; do
			case ${entry##*/} in
			@*) ;;
			*) if [ -e "$entry" ] || [ -L "$entry" ]; then set -- "$@" "$entry"; fi ;;
			esac
		done
		if [ -d "$from/.prepared" ]; then set -- "$@" "$from/.prepared"; fi
		if [ -f "$from/.yarn-state.yml" ]; then set -- "$@" "$from/.yarn-state.yml"; fi
		if [ $# -gt 0 ]; then ln -s -t "$to" -- "$@"; fi
		for group in "$from"/@* "$from"/.bin; do
			[ -d "$group" ] || continue
			mkdir "$to/${group##*/}" || continue
			set --
			for entry in "$group"/*; do
				if [ -e "$entry" ] || [ -L "$entry" ]; then set -- "$@" "$entry"; fi
			done
			if [ $# -gt 0 ]; then ln -s -t "$to/${group##*/}" -- "$@"; fi
		done
	done <"$list"
	hide node_modules # tools make more of them, for what they keep
	case $list in */berry.dirs) hide .yarn/install-state.gz ;; esac
done
