# Composer's packages are copied: PHP looks up where a link leads, and composer's loader
# finds the project's own classes from where it lies itself. It is made in the tree, whose classes it lists.
if [ -f "$deps/composer.vendor" ]; then
	while IFS= read -r dir; do
		if [ ! -f "./${dir}composer.json" ] || [ ! -d "$deps/composer/${dir}vendor" ] || [ -e "./${dir}vendor/autoload.php" ]; then continue; fi
		mkdir -p "./${dir}vendor" && cp -R "$deps/composer/${dir}vendor/." "./${dir}vendor/" || continue
		hide "/${dir}vendor/"
		(cd "./$dir" && COMPOSER_DISABLE_NETWORK=1 composer dump-autoload --quiet --no-interaction --no-scripts --no-plugins </dev/null) || true
	done <"$deps/composer.vendor"
fi
