package ruby

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// debianRuby is the version of Debian's Ruby, by which bundler names its folders.
const debianRuby = "3.1.0"

// gemSources is where a project's gems come from.
type gemSources struct {
	vendored bool     // all lie unpacked in vendor/bundle
	cached   bool     // all lie packed in vendor/cache
	missing  []string // neither Debian nor the repository has them
	odd      string   // the Ruby for which vendor/bundle was made, where that is another one
}

// findGems finds out what a project's manifests ask for, and where that is.
func findGems(t *ecosystem.Tree, dir string) (g gemSources) {
	bundle := path.Join(dir, "vendor/bundle/ruby")
	for _, p := range t.FilesBelow(bundle) {
		version, _, _ := strings.Cut(strings.TrimPrefix(p, bundle+"/"), "/")
		if version == debianRuby {
			g.vendored = true
		} else if g.odd == "" || version > g.odd {
			g.odd = ecosystem.PrintablePath(version)
		}
	}
	g.cached = slices.ContainsFunc(t.Dirs[path.Join(dir, "vendor/cache")], func(name string) bool { return path.Ext(name) == ".gem" })
	if g.vendored {
		g.odd = ""
	}
	for _, name := range wantedGems(t, dir) {
		if !slices.Contains(alwaysThere, name) && debianPackage(name) == "" && !g.vendored && !g.cached {
			g.missing = append(g.missing, name)
		}
	}
	return g
}

// bundledCommand is a command with the gems of the project's own, if it has them along.
func (g gemSources) bundledCommand(command string) string { return g.bundledWith("", command) }

// bundledWith is the same for a command with variables.
func (g gemSources) bundledWith(variables, command string) string {
	switch {
	case g.vendored:
		return "BUNDLE_PATH=vendor/bundle " + variables + "bundle exec " + command
	case g.cached:
		// The work folder of a check may be written to, the tree is left as it is.
		return "export BUNDLE_PATH=/tmp/bundle && bundle install --local --quiet && " + variables + "bundle exec " + command
	}
	return variables + command
}

// noteMissing tells of the gems that a project has to go without.
func (g gemSources) noteMissing(t *ecosystem.Tree, dir string) {
	if g.odd != "" {
		t.AddNote("%s holds the gems of Ruby %s, and the image has Ruby %s: they are not used (`bundle cache` packs gems for every Ruby)", path.Join(dir, "vendor/bundle"), g.odd, strings.TrimSuffix(debianRuby, ".0"))
	}
	if len(g.missing) == 0 {
		return
	}
	const most = 8
	names := strings.Join(g.missing[:min(len(g.missing), most)], ", ")
	if more := len(g.missing) - most; more > 0 {
		names += ", …"
	}
	t.AddNote("%s asks for gems that Debian does not have (%s): what needs them is red, until `bundle cache` has put them into vendor/cache", path.Join(dir, "Gemfile"), names)
}

var (
	gemLine    = lazyregexp.New(`(?m)^\s*gem\s*\(?\s*["']([A-Za-z0-9_.-]{1,60})["']`)
	gemspecDep = lazyregexp.New(`(?m)\.add_(?:runtime_|development_)?dependency\s*\(?\s*["']([A-Za-z0-9_.-]{1,60})["']`)
)

// wantedGems are the gems that a project's manifests name, sorted, each once.
func wantedGems(t *ecosystem.Tree, dir string) (out []string) {
	for _, name := range slices.Sorted(slices.Values(t.Dirs[dir])) {
		var names *lazyregexp.Regexp
		switch {
		case name == "Gemfile":
			names = gemLine
		case path.Ext(name) == ".gemspec":
			names = gemspecDep
		default:
			continue
		}
		for _, m := range names.FindAllStringSubmatch(t.ReadManifest(dir, name), -1) {
			out = append(out, m[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// alwaysThere are gems of the toolchain itself, or that come with Ruby, and those
// that no test needs.
var alwaysThere = []string{
	"bundler", "rake", "minitest", "test-unit", "power_assert", "rspec", "rspec-core", "rspec-expectations", "rspec-mocks", "rspec-support", "diff-lcs",
	"rexml", "rss", "json", "psych", "bigdecimal", "csv", "date", "erb", "fileutils", "logger", "net-http", "open3", "openssl", "ostruct", "set", "stringio", "strscan", "tempfile", "time",
	"timeout", "uri", "yaml", "zlib", "matrix", "prime", "racc", "base64", "benchmark", "bigdecimal", "debug", "digest", "forwardable", "getoptlong", "irb", "rdoc", "securerandom", "tsort", "typeprof", "rbs",
	"rubocop", "rubocop-minitest", "rubocop-performance", "rubocop-rake", "rubocop-rspec", "standard", "yard", "solargraph", "ruby-lsp", "guard", "guard-rspec", "guard-minitest", "overcommit", "bundler-audit",
}

// debianGems are gems that are packages of Debian's, called ruby- and their name.
var debianGems = []string{
	"activemodel", "activerecord", "activesupport", "addressable", "awesome_print", "bcrypt", "builder", "byebug", "childprocess", "coderay", "colorize", "commander",
	"concurrent-ruby", "crack", "dalli", "docile", "dotenv", "em-websocket", "eventmachine", "excon", "factory_bot", "faker", "fakefs", "faraday", "ffi", "haml", "hashdiff", "hashie", "highline",
	"httparty", "i18n", "jwt", "kramdown", "liquid", "listen", "mail", "mime-types", "minitest-around", "minitest-focus", "minitest-reporters", "mocha", "msgpack", "multi_json", "mustache", "mysql2",
	"net-scp", "net-ssh", "nokogiri", "oj", "optimist", "ox", "parallel", "pastel", "pg", "pry", "public_suffix", "puma", "rack", "rack-test", "rainbow", "redcarpet", "redis", "rest-client", "rouge", "rr",
	"rspec-collection_matchers", "rspec-its", "ruby-progressbar", "sequel", "shoulda", "shoulda-context", "shoulda-matchers", "simplecov", "simplecov-html", "sinatra", "slim", "slop", "sqlite3",
	"temple", "terminal-table", "test-unit-rr", "thor", "tilt", "timecop", "tty-prompt", "typhoeus", "tzinfo", "unicode-display_width", "vcr", "webmock", "webrick", "zeitwerk",
}

// oddPackages are packages with a name of their own.
var oddPackages = map[string]string{"concurrent-ruby": "ruby-concurrent", "pry": "pry", "puma": "puma", "ruby-progressbar": "ruby-progressbar"}

// debianPackage is the package of a gem; empty: there is none.
func debianPackage(gem string) string {
	if !slices.Contains(debianGems, gem) {
		return ""
	}
	return cmp.Or(oddPackages[gem], "ruby-"+strings.ReplaceAll(gem, "_", "-"))
}
