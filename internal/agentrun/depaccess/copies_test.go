package depaccess

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ecosystem/depproxy"
	"company/internal/gitops"
)

// commitFiles commits these files, path to text, in place of all that the repository has. A text that begins with an
// arrow is where a link leads.
func (b *bench) commitFiles(t *testing.T, files map[string]string) company.OID {
	t.Helper()
	var stream bytes.Buffer
	stream.WriteString("commit refs/heads/main\ncommitter a <a@example.com> 1 +0000\ndata 0\ndeleteall\n")
	for _, file := range slices.Sorted(maps.Keys(files)) {
		mode, text := "100644", files[file]
		if to, isLink := strings.CutPrefix(text, "-> "); isLink {
			mode, text = "120000", to
		}
		fmt.Fprintf(&stream, "M %s inline %s\ndata %d\n%s\n", mode, file, len(text), text)
	}
	cmd := exec.CommandContext(t.Context(), "git", "-C", filepath.Join(b.dir, "repo"), "fast-import", "--quiet", "--force")
	cmd.Stdin = &stream
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := b.mirror.FetchBase(t.Context(), nil, gitops.Source{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return info.OID
}

// A lock file of a copy counts where a client is led to it: by a link, by a list of projects, or perhaps by settings
// that are not the base's. Copies and material of tests may change as they like otherwise.
func TestLockFilesOfCopies(t *testing.T) {
	type files map[string]string
	const lock, other = "{}", `{"name":"other"}`
	for name, c := range map[string]struct {
		base, tree files // the tree has the base's as well
		want       string
	}{
		"material for tests": {files{"testdata/go.sum": ""},
			files{"testdata/go.sum": "broken", "vendor/a/yarn.lock": ""}, ""},
		"a manifest beside it": {files{"package.json": lock},
			files{"package.json": other, "vendor/a/yarn.lock": ""}, ""},
		"settings among it": {nil,
			files{"testdata/.npmrc": "a=b", "testdata/.yarnrc.yml": "lockfileFilename: x", "testdata/pnpm-lock.yaml": ""}, ""},
		"the base's settings": {files{".npmrc": "save-exact=true",
			".bundle/config": "---\nBUNDLE_PATH: \"vendor/bundle\"\n"}, files{"vendor/a/yarn.lock": ""}, ""},
		"settings beside what the base has": {files{"vendor/a/yarn.lock": ""}, files{".npmrc": "save-exact=true"}, ""},
		"links among copies": {nil,
			files{"node_modules/a": "-> .store/a", "node_modules/.store/a/yarn.lock": ""}, ""},
		"a link to another folder": {nil,
			files{"lib": "-> vendor/a/lib", "vendor/a/lib/x": "", "vendor/a/yarn.lock": "", "docs": "-> .", "up": "-> ../x"},
			""},
		"a link to its folder": {files{"tools/package-lock.json": lock},
			files{"tools": "-> vendor/tools", "vendor/tools/package-lock.json": other}, "vendor/tools/package-lock.json"},
		"a link to a folder above": {nil, files{"a/b": "-> ../third_party", "third_party/x/y/yarn.lock": ""},
			"third_party/x/y/yarn.lock"},
		"links to links": {nil,
			files{"a": "-> b/c", "b": "-> vendor/b", "vendor/b/c": "-> ../../testdata/d", "testdata/d/yarn.lock": ""},
			"testdata/d/yarn.lock"},
		"a link below a link": {nil,
			files{"b": "-> vendor/b", "vendor/b/c": "-> ../../testdata/d", "testdata/d/yarn.lock": ""}, "testdata/d/yarn.lock"},
		"a link back from above": {nil, files{"b": "-> ../main/vendor/b", "vendor/b/yarn.lock": ""},
			"vendor/b/yarn.lock"},
		"a link in other letters": {nil, files{"b": "-> Vendor/B", "vendor/b/yarn.lock": ""},
			"vendor/b/yarn.lock"},
		"a link to what the base has": {files{"testdata/b/yarn.lock": ""}, files{"b": "-> testdata/b"},
			"testdata/b/yarn.lock"},
		"the base's link": {files{"b": "-> vendor/b", "vendor/b/yarn.lock": ""},
			files{"vendor/b/yarn.lock": "# "}, "vendor/b/yarn.lock"},
		"a list of projects": {nil,
			files{"go.work": "go 1.26\n\nuse (\n\t.\n\t\"./testdata/m\"\n)\n", "testdata/m/go.mod": "module m\n",
				"testdata/n/go.mod": "module n\n"}, "go.work testdata/m/go.mod"},
		"a list in a linked copy": {nil,
			files{"w": "-> vendor/w", "vendor/w/go.work": "go 1.26\n\nuse ../../testdata/m\n",
				"testdata/m/go.mod": "module m\n"}, "testdata/m/go.mod vendor/w/go.work"},
		"a list by an absolute path": {nil,
			files{"go.work": "go 1.26\n\nuse /repo/testdata/m\n", "testdata/m/go.mod": "module m\n"},
			"go.work testdata/m/go.mod"},
		"pnpm's settings": {nil,
			files{".npmrc": "\"lockfile\\u002ddir\"=vendor", "vendor/pnpm-lock.yaml": ""}, "vendor/pnpm-lock.yaml"},
		"settings that are changed": {files{".npmrc": "a=b\n"},
			files{".npmrc": "a=b\nlockfile-${NOPE-dir}=vendor\n", "vendor/pnpm-lock.yaml": ""}, "vendor/pnpm-lock.yaml"},
		"settings that are a link": {nil,
			files{".npmrc": "-> settings", "settings": "lockfile-dir=vendor", "vendor/pnpm-lock.yaml": ""},
			"vendor/pnpm-lock.yaml"},
		"the base's settings that are a link": {files{".npmrc": "-> settings"},
			files{"settings": "lockfile-dir=vendor", "vendor/pnpm-lock.yaml": ""}, "vendor/pnpm-lock.yaml"},
		"large settings": {nil,
			files{".npmrc": strings.Repeat("# \n", maxManifest), "vendor/pnpm-lock.yaml": ""}, "vendor/pnpm-lock.yaml"},
		"settings in other letters": {nil, files{".NPMRC": "lockfile-dir=vendor", "vendor/pnpm-lock.yaml": ""},
			"vendor/pnpm-lock.yaml"},
		"settings of a workspace": {nil,
			files{"pnpm-workspace.yaml": "? lockfileDir\n: vendor\n", "vendor/pnpm-lock.yaml": ""}, "vendor/pnpm-lock.yaml"},
		"settings of yarn 1": {nil, files{"a/.yarnrc": "--cwd \"vendor\"", "vendor/yarn.lock": ""},
			"vendor/yarn.lock"},
		"settings of bundler": {nil,
			files{".bundle": "-> conf", "conf/config": "BUNDLE_GEMFILE: \"vendor/Gemfile\"", "vendor/Gemfile.lock": ""},
			"vendor/Gemfile.lock"},
		"settings in a linked copy": {nil,
			files{"a": "-> vendor/a", "vendor/a/.npmrc": "lockfile-dir=../../testdata", "testdata/pnpm-lock.yaml": ""},
			"testdata/pnpm-lock.yaml"},
		"settings that lead to the base's": {files{"testdata/pnpm-lock.yaml": ""},
			files{".npmrc": "lockfile-dir;=testdata"}, "testdata/pnpm-lock.yaml"},
		"a key with an escape": {files{"testdata/pnpm-lock.yaml": ""},
			files{".npmrc": "\"l\\u006fckfile-dir\"=testdata"}, "testdata/pnpm-lock.yaml"},
		"a key with a variable": {files{"testdata/pnpm-lock.yaml": ""},
			files{".npmrc": "lock${NOPE-file}-dir=testdata"}, "testdata/pnpm-lock.yaml"},
		"a link beside the base's": {files{"testdata/pnpm-lock.yaml": ""}, files{".npmrc": "-> other"},
			"testdata/pnpm-lock.yaml"},
		"a secret of settings": {files{"testdata/pnpm-lock.yaml": ""},
			files{".npmrc": "//x/:_authToken=${TOKEN}\nregistry=https://x/?a=b"}, ""},
		"the base's line that leads nowhere": {files{"testdata/pnpm-lock.yaml": "", ".npmrc": "prefer-frozen-lockfile=true"},
			files{".npmrc": "a=b\nprefer-frozen-lockfile=true"}, ""},
		"settings that are gone": {files{".npmrc": "a=b"}, files{".npmrc": "", "vendor/pnpm-lock.yaml": ""},
			"vendor/pnpm-lock.yaml"},
		"the base's settings lead to copies": {files{".npmrc": "shared-workspace-lockfile=false",
			"vendor/a/pnpm-lock.yaml": ""}, files{"vendor/a/pnpm-lock.yaml": "# "}, "vendor/a/pnpm-lock.yaml"},
		"the base's editable folder": {files{"requirements.txt": "-e ./third_party/x\n", "third_party/x/setup.cfg": ""},
			files{"third_party/x/setup.cfg": "# ", "third_party/y/setup.cfg": ""}, "third_party/x/setup.cfg"},
		"a list of a list": {files{"requirements.txt": "-r third_party/requirements.txt\n",
			"third_party/requirements.txt": "-r base.txt\n", "third_party/base.txt": ""},
			files{"third_party/requirements.txt": "# "}, "third_party/requirements.txt"},
		"poetry's folder": {files{"pyproject.toml": "[tool.poetry.dependencies]\nx = { path = \"third_party/x\" }\n",
			"third_party/x/setup.py": ""}, files{"third_party/x/setup.py": "# "}, "third_party/x/setup.py"},
		"uv's workspace": {files{"pyproject.toml": "[tool.uv.workspace]\nmembers = [\n\"a\", \"third_party/*\",\n]\n",
			"third_party/x/pyproject.toml": ""}, files{"third_party/x/pyproject.toml": "# "}, "third_party/x/pyproject.toml"},
		"a folder of copies itself": {files{
			"Pipfile":          "[packages]\nx = {path = \"vendor\", editable = true}\n",
			"vendor/setup.cfg": ""}, files{"vendor/setup.cfg": "# "}, "vendor/setup.cfg"},
		"pdm's address": {files{"pyproject.toml": "dev = [\"-e file:///${PROJECT_ROOT}/third_party/x#egg=x\"]\n",
			"third_party/x/setup.cfg": ""}, files{"third_party/x/setup.cfg": "# "}, "third_party/x/setup.cfg"},
		"Go's replacement": {files{
			"go.mod": "module m\n\nreplace x => ./third_party/x\n", "third_party/x/go.mod": "module x\n"},
			files{"third_party/x/go.mod": "module x\n\ngo 1.26\n"}, "third_party/x/go.mod"},
		"npm's folder": {files{"package.json": `{"dependencies":{"x":"file:vendor\/x"}}`, "vendor/x/npm-shrinkwrap.json": ""},
			files{"vendor/x/npm-shrinkwrap.json": lock}, "vendor/x/npm-shrinkwrap.json"},
		"a folder with a blank": {files{
			"a/requirements.txt": "-e '../third_party/my lib'\n", "third_party/my lib/setup.py": ""},
			files{"third_party/my lib/setup.py": "# "}, "third_party/my lib/setup.py"},
		"from copy to copy": {files{"requirements.txt": "-r./vendor/x/requirements.txt\n",
			"vendor/x/requirements.txt": "-e ../y\n", "vendor/y/setup.cfg": ""},
			files{"vendor/y/setup.cfg": "# "}, "vendor/y/setup.cfg"},
		"through a link of a copy": {files{"requirements.txt": "-e vendor/l\n", "vendor/l": "-> ../testdata/x",
			"testdata/x/setup.cfg": ""}, files{"testdata/x/setup.cfg": "# "}, "testdata/x/setup.cfg"},
		"the branch's quotes in a word": {files{"requirements.txt": "", "vendor/x/requirements.txt": ""},
			files{"requirements.txt": "-r ven\"dor\"/x/requ\\\nirements.txt\n"}, "requirements.txt vendor/x/requirements.txt"},
		"the branch's escape": {files{"pyproject.toml": "", "vendor/x/setup.py": ""},
			files{"pyproject.toml": "[tool.uv.sources]\nx = { path = \"v\\u0065ndor/x\" }\n"},
			"pyproject.toml vendor/x/setup.py"},
		"the branch's address": {files{"requirements.txt": "", "vendor/x/setup.py": ""},
			files{"requirements.txt": "x @ file:./v%65ndor/x\n"}, "requirements.txt vendor/x/setup.py"},
		"the branch's variable": {files{"tox.ini": "", "vendor/x/setup.py": "", "vendor/y/setup.py": ""},
			files{"tox.ini": "[testenv]\ndeps = -e{env:NOPE:ven}dor/x\n", "vendor/x/setup.py": "# "},
			"tox.ini vendor/x/setup.py"},
		"the branch's pattern": {files{"pyproject.toml": "", "vendor/x/setup.py": ""},
			files{"pyproject.toml": "[tool.uv.workspace]\nm\\u0065mbers = [\"v*r/x\"]\n", "vendor/x/setup.py": "# "},
			"pyproject.toml vendor/x/setup.py"},
		"a list as a manifest among copies names it": {files{"testdata/requirements.txt": "-e ../vendor/x\n",
			"vendor/x/setup.py": ""}, files{"vendor/x/setup.py": "# "}, ""},
		"what a manifest leaves out": {files{
			"pyproject.toml": "[tool.ruff]\nexclude = [\"third_party\", \"third_party/*\", \"testdata/**\", \"vendor/\"]\n" +
				"[tool.coverage.run]\nomit = [\"*/site-packages/*\"]\n[tool.setuptools.package-data]\nx = [\"testdata/*\"]\n",
			"package.json":           `{"jest":{"testPathIgnorePatterns":["/node_modules/","/vendor/"]},"main":"vendor/a.js"}`,
			"third_party/x/setup.py": "", "testdata/a/go.mod": "", "vendor/a/yarn.lock": ""},
			files{"third_party/x/setup.py": "# ", "testdata/a/go.mod": "# ", "vendor/a/yarn.lock": "# "}, ""},
		"npm's own folders": {files{
			"package-lock.json": `{"packages":{"node_modules/x":{}}}`, "node_modules/x/yarn.lock": ""},
			files{"node_modules/x/yarn.lock": "# "}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := maps.Clone(c.base)
			if tree == nil {
				tree = files{}
			}
			maps.Copy(tree, c.tree)
			for file := range tree {
				if dir, _, _ := strings.Cut(file, "/"); dir != file && tree[dir] != "" {
					delete(tree, file) // a link stands in its place
				}
			}
			if name == "settings that are gone" {
				delete(tree, ".npmrc")
			}
			before, entries, read := listFiles(c.base, tree)
			was, err := compareScopes(t.Context(), before, before, true, read)
			if err != nil {
				t.Fatal(err)
			}
			is, err := compareScopes(t.Context(), before, entries, false, read)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range entries {
				hasSo := slices.Contains(before, e) && !was.leavesOut(e)
				if depproxy.IsLockFile(e.Path) && !is.leavesOut(e) && !hasSo {
					got = append(got, e.Path)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("compared are %q, want %q", got, c.want)
			}
		})
	}
}

// listFiles are the entries of two trees of such files as commitFiles commits, and what reads them.
func listFiles(base, tree map[string]string) (before, entries []gitops.Entry, read readFunc) {
	texts := map[company.OID]string{}
	list := func(files map[string]string) (all []gitops.Entry) {
		for _, file := range slices.Sorted(maps.Keys(files)) {
			text, isLink := strings.CutPrefix(files[file], "-> ")
			e := gitops.Entry{Path: file, Mode: gitops.ModeFile, Size: int64(len(text)),
				OID: company.OID(fmt.Sprintf("%x", sha256.Sum256([]byte(text))))}
			if isLink {
				e.Mode = gitops.ModeSymlink
			}
			texts[e.OID] = text
			all = append(all, e)
		}
		return all
	}
	return list(base), list(tree), func(all []gitops.Entry, each eachFunc) error {
		for _, e := range all {
			if err := each(e, []byte(texts[e.OID])); err != nil {
				return err
			}
		}
		return nil
	}
}

// The refusal names the lock files of copies that count since the branch changes settings, also a link, which is not
// read.
func TestCopiesBesideOtherSettings(t *testing.T) {
	b := newBench(t, company.Auto)
	base := b.commitFiles(t, map[string]string{"vendor/a/yarn.lock": ""})
	at := b.commitFiles(t, map[string]string{
		"vendor/a/yarn.lock": "", "vendor/b/yarn.lock": "", "vendor/c/yarn.lock": "-> ../b/yarn.lock", ".yarnrc": "--prod x",
		"d": "-> vendor/d", "vendor/d/yarn.lock": "",
	})
	if got, err := FindCopies(t.Context(), b.mirror, base, at); err != nil ||
		strings.Join(got, " ") != "vendor/b/yarn.lock vendor/c/yarn.lock" {
		t.Errorf("copies: %q, %v", got, err)
	}
	if isChanged, err := Changed(t.Context(), b.mirror, base, at); err != nil || !isChanged {
		t.Errorf("changed: %v, %v", isChanged, err)
	}
	was, err := Locks(t.Context(), b.mirror, base, base)
	if err != nil {
		t.Fatal(err)
	}
	is, err := Locks(t.Context(), b.mirror, base, at)
	if got := slices.Sorted(maps.Keys(is)); err != nil || len(was) != 0 ||
		strings.Join(got, " ") != "vendor/b/yarn.lock vendor/d/yarn.lock" {
		t.Errorf("read: %q and %q, %v", slices.Sorted(maps.Keys(was)), got, err)
	}
	if got, err := FindUnread(t.Context(), b.mirror, base, at); err != nil ||
		strings.Join(got, " ") != "vendor/c/yarn.lock" {
		t.Errorf("not read: %q, %v", got, err)
	}
}

// Thousands of links among copies that lead on to one another take no time by their square.
func TestManyLinksOfCopies(t *testing.T) {
	var leads []lead
	for i := range 200_000 {
		leads = append(
			leads, lead{"vendor/" + string(rune('a'+i%26)) + strings.Repeat("x", i%50), i > 0,
				"vendor/l" + strings.Repeat("y", i%700)})
	}
	s := &scope{}
	s.followLeads(leads)
	if len(s.led) == 0 {
		t.Error("nothing is reached")
	}
}

// Each link leads where Linux finds it, and chains of long links take no time by the square of their lengths.
func TestLinksLead(t *testing.T) {
	long := strings.Repeat("a/", 2000)
	chain, many := map[string]string{}, map[string]string{}
	for i := range 60 {
		chain[fmt.Sprintf("l%d", i)] = fmt.Sprintf("l%d/%sa", i+1, long)
	}
	for i := range 2000 {
		many[fmt.Sprintf("l%d", i)] = strings.Repeat(fmt.Sprintf("l%d/../", i+1), 30) + "vendor/x"
		chain[fmt.Sprintf("k%d", i)] = fmt.Sprintf("k%d", i+1)
	}
	maps.Copy(chain, map[string]string{"k2000": "vendor", "m0": "m1/" + strings.Repeat("b/../", 800), "m1": "vendor/x"})
	for name, c := range map[string]struct {
		links      map[string]string
		file, want string
	}{
		"a circle":                 {map[string]string{"a": "b/x", "b": "a"}, "a", ""},
		"through a link":           {map[string]string{"a": "b/x", "b": "c/d"}, "a", "c/d/x"},
		"up behind a link":         {map[string]string{"a": "b/../x", "b": "c/d"}, "a", "c/x"},
		"back from above":          {map[string]string{"a/b": "../../../x/main/vendor", "c": "a/b/y"}, "c", "vendor/y"},
		"to the tree":              {map[string]string{"a/b": ".."}, "a/b", "."},
		"out of the tree":          {map[string]string{"a": "/vendor"}, "a", ""},
		"a chain of long links":    {chain, "l20", ""},
		"as far as Linux follows":  {chain, "k1961", "vendor"},
		"farther":                  {chain, "k1960", ""},
		"long, and to one place":   {chain, "m0", "vendor/x"},
		"more links than it takes": {many, "l0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			links := newTreeLinks()
			for file, target := range c.links {
				links.add(file, target)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for file := range c.links {
				if _, err := links.resolve(ctx, file); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := links.resolve(ctx, c.file); got != c.want || err != nil {
				t.Errorf("leads to %q, %v; want %q", got, err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newTreeLinks().resolve(ctx, "a"); err == nil {
		t.Error("a context that is over ends nothing")
	}
}
