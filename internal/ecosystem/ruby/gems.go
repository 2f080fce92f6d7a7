package ruby

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// debianRuby is the version of Debian's Ruby. Bundler uses it in the names of its folders.
const debianRuby = "3.1.0"

// gemSources describes where a project's gems are.
type gemSources struct {
	vendored bool     // vendor/bundle has them unpacked
	cached   bool     // vendor/cache has them packed
	missing  []string // gems that neither Debian nor the repository has
	odd      string   // the other Ruby version for which vendor/bundle was made, or empty
}

// findGems finds the gems that a project's manifests ask for and where they are.
func findGems(tree *ecosystem.Tree, dir string) (g gemSources) {
	bundle := path.Join(dir, "vendor/bundle/ruby")
	for _, p := range tree.FilesBelow(bundle) {
		version, _, _ := strings.Cut(strings.TrimPrefix(p, bundle+"/"), "/")
		if version == debianRuby {
			g.vendored = true
		} else if g.odd == "" || version > g.odd {
			g.odd = ecosystem.PrintablePath(version)
		}
	}
	g.cached = slices.ContainsFunc(
		tree.Dirs[path.Join(dir, "vendor/cache")], func(name string) bool { return path.Ext(name) == ".gem" })
	if g.vendored {
		g.odd = ""
	}
	for _, name := range wantedGems(tree, dir) {
		if !slices.Contains(alwaysThere, name) && debianPackage(name) == "" && !g.vendored && !g.cached {
			g.missing = append(g.missing, name)
		}
	}
	return g
}

// bundledCommand returns the command, run with the gems that the project vendors, if it vendors any.
func (g gemSources) bundledCommand(command string) string { return g.bundledWith("", command) }

// bundledWith is like bundledCommand, and sets environment variables for the command.
func (g gemSources) bundledWith(variables, command string) string {
	switch {
	case g.vendored:
		return "BUNDLE_PATH=vendor/bundle " + variables + "bundle exec " + command
	case g.cached:
		// Gems are installed outside of the tree: a check may write to its work folder, but must not change the
		// tree.
		return "export BUNDLE_PATH=/tmp/bundle && bundle install --local --quiet && " + variables + "bundle exec " + command
	}
	return variables + command
}

// noteMissing adds notes about the gems that a project has to do without.
func (g gemSources) noteMissing(tree *ecosystem.Tree, dir string) {
	if g.odd != "" {
		tree.AddNote("%s holds the gems of Ruby %s, and the image has Ruby %s: they are not used (`bundle cache` packs gems "+
			"for every Ruby)", path.Join(dir, "vendor/bundle"), g.odd, strings.TrimSuffix(debianRuby, ".0"))
	}
	if len(g.missing) == 0 {
		return
	}
	const most = 8
	names := strings.Join(g.missing[:min(len(g.missing), most)], ", ")
	if more := len(g.missing) - most; more > 0 {
		names += ", …"
	}
	tree.AddNote("%s asks for gems that Debian does not have (%s): what needs them is red, until `bundle cache` has put "+
		"them into vendor/cache", path.Join(dir, "Gemfile"), names)
}

var (
	gemLine    = lazyregexp.New(`(?m)^\s*gem\s*\(?\s*["']([A-Za-z0-9_.-]{1,60})["']`)
	gemspecDep = lazyregexp.New(`(?m)\.add_(?:runtime_|development_)?dependency\s*\(?\s*["']([A-Za-z0-9_.-]{1,60})["']`)
)

// wantedGems lists the gems that a project's manifests name, sorted and without duplicates.
func wantedGems(tree *ecosystem.Tree, dir string) (out []string) {
	for _, name := range slices.Sorted(slices.Values(tree.Dirs[dir])) {
		var names *lazyregexp.Regexp
		switch {
		case name == "Gemfile":
			names = gemLine
		case path.Ext(name) == ".gemspec":
			names = gemspecDep
		default:
			continue
		}
		for _, m := range names.FindAllStringSubmatch(tree.ReadManifest(dir, name), -1) {
			out = append(out, m[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// alwaysThere lists gems that the toolchain contains, that come with Ruby, or that no test needs.
var alwaysThere = []string{
	"bundler", "rake", "minitest", "test-unit", "power_assert", "rspec", "rspec-core", "rspec-expectations", "rspec-mocks",
	"rspec-support", "diff-lcs",
	"rexml", "rss", "json", "psych", "bigdecimal", "csv", "date", "erb", "fileutils", "logger", "net-http", "open3",
	"openssl", "ostruct", "set", "stringio", "strscan", "tempfile", "time",
	"timeout", "uri", "yaml", "zlib", "matrix", "prime", "racc", "base64", "benchmark", "bigdecimal", "debug", "digest",
	"forwardable", "getoptlong", "irb", "rdoc", "securerandom", "tsort", "typeprof", "rbs",
	"rubocop", "rubocop-minitest", "rubocop-performance", "rubocop-rake", "rubocop-rspec", "standard", "yard",
	"solargraph", "ruby-lsp", "guard", "guard-rspec", "guard-minitest", "overcommit", "bundler-audit",
}

// debianGems lists the gems that are Debian packages. Most packages have the prefix ruby-.
var debianGems = []string{
	"activemodel", "activerecord", "activesupport", "addressable", "awesome_print", "bcrypt", "builder", "byebug",
	"childprocess", "coderay", "colorize", "commander",
	"concurrent-ruby", "crack", "dalli", "docile", "dotenv", "em-websocket", "eventmachine", "excon", "factory_bot",
	"faker", "fakefs", "faraday", "ffi", "haml", "hashdiff", "hashie", "highline",
	"httparty", "i18n", "jwt", "kramdown", "liquid", "listen", "mail", "mime-types", "minitest-around", "minitest-focus",
	"minitest-reporters", "mocha", "msgpack", "multi_json", "mustache", "mysql2",
	"net-scp", "net-ssh", "nokogiri", "oj", "optimist", "ox", "parallel", "pastel", "pg", "pry", "public_suffix", "puma",
	"rack", "rack-test", "rainbow", "redcarpet", "redis", "rest-client", "rouge", "rr",
	"rspec-collection_matchers", "rspec-its", "ruby-progressbar", "sequel", "shoulda", "shoulda-context",
	"shoulda-matchers", "simplecov", "simplecov-html", "sinatra", "slim", "slop", "sqlite3",
	"temple", "terminal-table", "test-unit-rr", "thor", "tilt", "timecop", "tty-prompt", "typhoeus", "tzinfo",
	"unicode-display_width", "vcr", "webmock", "webrick", "zeitwerk",
}

// oddPackages maps gems to Debian packages whose names don't follow from the gem.
var oddPackages = map[string]string{"concurrent-ruby": "ruby-concurrent", "pry": "pry", "puma": "puma",
	"ruby-progressbar": "ruby-progressbar"}

// debianPackage returns the Debian package of a gem, or an empty string if there is none.
func debianPackage(gem string) string {
	if !slices.Contains(debianGems, gem) {
		return ""
	}
	return cmp.Or(oddPackages[gem], "ruby-"+strings.ReplaceAll(gem, "_", "-"))
}
