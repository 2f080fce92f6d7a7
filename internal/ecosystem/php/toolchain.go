package php

import (
	_ "embed" // parts of a script
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// extensionPrefix is the prefix of a toolchain that is the Debian package of an extension.
const extensionPrefix = "ext-"

// builtIn lists extensions of the interpreter itself or of packages that it needs.
var builtIn = []string{
	"calendar", "core", "ctype", "date", "dom", "exif", "ffi", "fileinfo", "filter", "ftp", "gettext", "hash", "iconv",
	"json", "libxml", "mbstring", "openssl", "pcntl", "pcre", "pdo", "phar", "posix",
	"random", "readline", "reflection", "session", "shmop", "simplexml", "sockets", "spl", "standard", "sysvmsg",
	"sysvsem", "sysvshm", "tokenizer", "xml", "xmlreader", "xmlwriter", "xsl", "zlib",
}

// extensionPackages maps other extensions to their Debian packages.
var extensionPackages = map[string]string{
	"amqp": "php-amqp", "apcu": "php-apcu", "bcmath": "php-bcmath", "bz2": "php-bz2", "curl": "php-curl", "gd": "php-gd",
	"gmp": "php-gmp", "imagick": "php-imagick",
	"imap": "php-imap", "intl": "php-intl", "ldap": "php-ldap", "memcached": "php-memcached", "mongodb": "php-mongodb",
	"mysqli": "php-mysql", "pdo_mysql": "php-mysql", "pdo_pgsql": "php-pgsql",
	"pdo_sqlite": "php-sqlite3", "pgsql": "php-pgsql", "redis": "php-redis", "soap": "php-soap", "sqlite3": "php-sqlite3",
	"tidy": "php-tidy", "xdebug": "php-xdebug", "yaml": "php-yaml", "zip": "php-zip",
}

// debianPHP is the version of Debian's PHP.
const debianPHP = "8.2"

// linkVendor copies composer's packages into a fresh tree.
//
//go:embed linkvendor.sh
var linkVendor string

// hideResults hides the file that PHPUnit writes next to its tests.
//
//go:embed hideresults.sh
var hideResults string

// Toolchains returns Debian's PHP with composer and PHPUnit, and one toolchain for each extension that is a
// Debian package.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	out := []ecosystem.Toolchain{{
		Name: e.Name(), Title: "PHP", Contents: "php, composer and phpunit", Version: debianPHP,
		Packages:  []string{"composer", "php-cli", "php-mbstring", "php-xml", "phpunit", "unzip"},
		FreshTree: ecosystem.FreshTree{Links: linkVendor, Hidden: hideResults},
		WishFiles: []string{".php-version"}, Wish: readWish,
	}}
	for _, extension := range slices.Sorted(maps.Keys(extensionPackages)) {
		out = append(
			out, ecosystem.Toolchain{Name: extensionPrefix + extension, Title: "PHP's " + extension,
				Contents: "PHP's extension " + extension, Packages: []string{extensionPackages[extension]}})
	}
	return out
}

// Needs lists the toolchains of extensions that the projects of a tree or the packages in their lock files
// require.
func (e Ecosystem) Needs(tree *ecosystem.Tree, need func(string) bool, _ []string) (out []string) {
	if !need(e.Name()) {
		return nil
	}
	for _, dir := range projectFolders(tree) {
		names := readComposer(tree, dir).listRequirements()
		if tree.Files[path.Join(dir, lockFile)].Size <= ecosystem.MaxManifest {
			packages, _ := readLock([]byte(tree.ReadManifest(dir, lockFile))) // composer reports the error
			for _, p := range packages {
				names = slices.AppendSeq(names, maps.Keys(p.Require))
			}
		}
		for _, name := range names {
			if extension, is := strings.CutPrefix(name, extensionPrefix); is && extensionPackages[extension] != "" {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readWish returns the version of PHP that a project asks for if it differs from has.
func readWish(text, has string) (wants, hasText string) {
	if ecosystem.VersionDiffers(text, has, 2) {
		return text, has
	}
	return "", ""
}
