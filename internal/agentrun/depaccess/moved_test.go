package depaccess

import (
	"maps"
	"strings"
	"testing"

	"company/internal/company"
)

// Settings may not have a client read a file of any name as its lock file, unless the base's do. Where that is
// unclear, they are named as well.
func TestSettingsMoveNoLockFile(t *testing.T) {
	const yarn, bundler = ".yarnrc.yml", "a/.bundle/config"
	const usual = "# Settings\nnodeLinker: node-modules\n\n\"enableScripts\" : false\nplugins:\n- path: .yarn/p.cjs\n  " +
		"spec: p\nnpmScopes:\n  own:\n    npmRegistryServer: \"https://x\"\n" +
		"packageExtensions: {\n  a@*: {dependencies: {b: '*'}}\n}\nlogFilters:\n    # none\n\n    - code: YN0002\n"
	b := newBench(t, company.Auto)
	for name, c := range map[string]struct {
		file, base, tree string
		isMoved          bool
	}{
		"usual settings":          {yarn, "", usual, false},
		"with a mark, on Windows": {yarn, "", "\ufeff---\r\n" + strings.ReplaceAll(usual, "\n", "\r\n"), false},
		"the base's line": {yarn, "lockfileFilename: deps.lock\n",
			usual + "lockfileFilename: deps.lock\n", false},
		"another line than the base's":  {yarn, "lockfileFilename: deps.lock\n", usual + "lockfileFilename: other\n", true},
		"a plain key":                   {yarn, "", usual + "lockfileFilename: other\n", true},
		"a quoted key":                  {yarn, "", usual + "'lockfileFilename': other\n", true},
		"a key with an escape":          {yarn, "", usual + "\"lockfile\\x46ilename\": other\n", true},
		"a key behind a question mark":  {yarn, "", usual + "? lockfileFilename\n: other\n", true},
		"a map in braces":               {yarn, "", "{lockfileFilename: other}\n", true},
		"braces of the base's":          {yarn, "{\n  a: b\n}\n", "{\n  a: b,\n  lockfileFilename: other\n}\n", true},
		"a map behind the first line":   {yarn, "", "--- {lockfileFilename: other}\n", true},
		"a tag":                         {yarn, "", "!!str lockfileFilename: other\n", true},
		"an anchor":                     {yarn, "", "&a lockfileFilename: other\n", true},
		"an indent at the top":          {yarn, "", "  lockfileFilename: other\n", true},
		"an indent behind the first":    {yarn, "", "---\n# a\n  lockfileFilename: other\n", true},
		"behind a carriage return":      {yarn, "", "nodeLinker: pnp # \rlockfileFilename: other\n", true},
		"the spelling of yarn 1":        {yarn, "", "# yarn lockfile v1\nlockfileFilename \"other\"\n", true},
		"settings that are a link":      {yarn, "", "-> other", true},
		"the base's link":               {yarn, "-> other", "-> other", false},
		"settings that are too large":   {yarn, "", strings.Repeat("# \n", maxManifest/3+1), true},
		"where material for tests lies": {"testdata/.yarnrc.yml", "", "lockfileFilename: other\n", false},
		"bundler's usual settings": {bundler, "",
			"---\nBUNDLE_PATH: \"vendor/bundle\"\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://x\"\n", false},
		"bundler's list of gems":     {bundler, "", "---\nBUNDLE_PATH: \"x\"\n BUNDLE_GEMFILE: \"other\"\n", true},
		"bundler's lock file":        {bundler, "", "BUNDLE_LOCKFILE: \"other\"\n", true},
		"bundler's folder is a link": {"a/.bundle", "", "-> other", true},
		"names that lock files keep": {".npmrc", "", "lockfile-dir=docs\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if to, isLink := strings.CutPrefix(c.tree, "-> "); isLink || len(c.tree) > maxManifest ||
				strings.HasPrefix(c.file, "testdata/") {
				files := map[string]string{"README": to}
				if c.base != "" {
					files[c.file] = c.base
				}
				base := b.commitFiles(t, files)
				files[c.file] = c.tree
				moved, err := FindMoved(t.Context(), b.mirror, base, b.commitFiles(t, files))
				if err != nil || (len(moved) > 0) != c.isMoved {
					t.Errorf("moved: %q, %v", moved, err)
				}
				return
			}
			if isMoved := isMover(c.file) && movesLock(c.file, []byte(c.tree), []byte(c.base)); isMoved != c.isMoved {
				t.Errorf("moved: %v", isMoved)
			}
		})
	}
}

// No attribute of git may have people get another text of a lock file or a manifest than the one that is compared.
func TestAttributesConvertNoLockFile(t *testing.T) {
	type files map[string]string
	const lock = "package-lock.json"
	b := newBench(t, company.Auto)
	for name, c := range map[string]struct {
		base, tree files // the tree has the base's as well
		want       string
	}{
		"usual attributes": {files{lock: "{}"},
			files{".gitattributes": "* text=auto eol=lf\n*.bat eol=crlf\n*.png filter=lfs -text\n*.lock -diff merge=union\n" +
				"*.go ident\n*.md working-tree-encoding=UTF-16\n/docs export-ignore\n* working-tree-encoding=UTF-8\n"}, ""},
		"another encoding": {files{lock: "{}"},
			files{".gitattributes": "*.json working-tree-encoding=ASCII//TRANSLIT\n"}, lock + " (working-tree-encoding)"},
		"by a macro": {files{lock: "{}"},
			files{".gitattributes": "[attr]odd filter=odd\npackage* odd\n"}, lock + " (filter)"},
		"in a folder": {files{"a/package.json": "{}"}, files{"a/.gitattributes": "/package.json eol=crlf\n"},
			"a/package.json (eol)"},
		"in other letters": {files{lock: "{}"}, files{".gitattributes": "PACKAGE-LOCK.JSON filter=odd\n"},
			lock + " (filter)"},
		"taken back in other letters": {files{lock: "{}"},
			files{".gitattributes": lock + " filter=odd\nPACKAGE-LOCK.JSON -filter\n"}, lock + " (filter)"},
		"of the attributes": {files{lock: "{}"}, files{".gitattributes": "* working-tree-encoding=UTF-7\n"},
			".gitattributes (working-tree-encoding), " + lock + " (working-tree-encoding)"},
		"what the base took back": {files{lock: "{}", ".gitattributes": "* filter=odd\n*.json -filter\n.git* -filter\n"},
			files{".gitattributes": "* filter=odd\n.git* -filter\n"}, lock + " (filter)"},
		"the base's identifiers": {files{lock: "{}", ".gitattributes": "* ident\n"}, files{lock: "{ }"}, ""},
		"an identifier": {files{lock: "{}", ".gitattributes": "* ident\n"}, files{lock: "{\"$Id: \": \"$\"}"},
			lock + " (ident)"},
		"in archives": {files{lock: "{}"}, files{lock: "{\"$Format:%B$\": 0}", ".gitattributes": "*.json export-subst\n"},
			lock + " (export-subst)"},
		"the base's encoding": {files{lock: "{}", ".gitattributes": "*.json working-tree-encoding=UTF-7\n"},
			files{"README": ""}, ""},
		"a text for the base's encoding": {files{lock: "{}", ".gitattributes": "*.json working-tree-encoding=UTF-7\n"},
			files{lock: "{ }"}, lock + " (working-tree-encoding)"},
		"the base's ends of lines": {files{lock: "{}", ".gitattributes": "* text eol=crlf\n"},
			files{lock: "{ }", "go.sum": ""}, ""},
		"material for tests": {nil,
			files{"testdata/package-lock.json": "{}", "testdata/.gitattributes": "*.json filter=odd\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := maps.Clone(c.base)
			if tree == nil {
				tree = files{"README": ""}
			}
			base := b.commitFiles(t, tree)
			maps.Copy(tree, c.tree)
			got, err := FindConverted(t.Context(), b.mirror, base, b.commitFiles(t, tree))
			if err != nil || strings.Join(got, ", ") != c.want {
				t.Errorf("converted: %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
