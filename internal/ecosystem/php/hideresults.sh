# What PHPUnit leaves behind.
if command -v php >/dev/null 2>&1; then
	hide .phpunit.result.cache
fi
