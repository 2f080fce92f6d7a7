package image

import (
	"regexp"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// ADP-2: a project that is not Go: its tools work in a locked container, as
// the agent, offline. All at once: a repository may hold several languages.
func TestToolchains(t *testing.T) {
	hosttest.Long(t, "packages of Debian")
	be := newTestBuilder(t)
	img := be.mustEnsure(t, Request{Toolchains: []string{"make", "c", "rust", "node", "python"}})
	var kinds []string
	for _, l := range img.Layers {
		kinds = append(kinds, l.Kind)
	}
	if got := strings.Join(kinds, " "); got != "base debian node rust ready toolbox" {
		t.Errorf("layers %q", got)
	}
	out := be.mustRun(t, img, `set -e; cd /work
node --version; npm --version; npx --version >/dev/null
printf 'import {test} from "node:test"; test("adds", () => {})\n' >a.test.mjs; node --test a.test.mjs | grep -x '# pass 1'
python3 --version; python3 -m pip --version >/dev/null
printf 'def test_x(): assert 1 + 1 == 2\n' >test_x.py; python3 -m pytest -q test_x.py | tail -1
cargo new -q --lib --vcs none c; cd c; cargo test -q --offline 2>&1 | grep 'test result'; cargo clippy --version; cargo fmt -- --check; cd ..
printf 'all: h\n\t./h\nh: h.c\n\t$(CC) -o h h.c\n' >Makefile; printf '#include <stdio.h>\nint main(){puts("made");}\n' >h.c; make -s
ls /usr/share/doc /usr/share/man /usr/share/locale 2>/dev/null | head -3 | wc -l
`)
	t.Log(out)
	for _, want := range []string{"v2", "# pass 1", "Python 3.11", "1 passed", "1 passed; 0 failed", "clippy", "made"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}

	// One more tool is one more layer, not another stack.
	again, err := be.Ensure(newContext(t), Request{Toolchains: []string{"node", "python", "rust", "c", "make"}})
	if err != nil || again.ID != img.ID {
		t.Errorf("the order of names counts: %v", err)
	}
}

// A pinned image is taken as it is, and that is said.
func TestPulledBaseKeepsItsTools(t *testing.T) {
	be := newTestBuilder(t)
	base := newPulledBase("example.com/x@sha256:" + strings.Repeat("0", 64))
	steps, notes, err := be.planLayers(
		newContext(t), Request{Base: base.ref, Toolchains: []string{"node", "python"}}, base)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.kind == "debian" || s.kind == "node" {
			t.Errorf("a %s layer on a pinned image", s.kind)
		}
	}
	if got := strings.Join(notes, "\n"); !strings.Contains(got, "node and npm must be in it") ||
		!strings.Contains(got, "pytest must be in it") {
		t.Errorf("notes %q", got)
	}
}

// What the project's version files wish for and the image does not have is
// said; hostile text in them is bounded.
func TestVersionNotes(t *testing.T) {
	be := newTestBuilder(t)
	node, root := be.hostTree(t, "node"), be.hostTree(t, "go")
	major, _, _ := strings.Cut(node.version, ".")
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"none": {map[string]string{"README": "x"}, nil},
		"met": {map[string]string{".nvmrc": "v" + major + "\n", ".python-version": "3.11.4\n",
			"go.mod": "module x\n\ngo 1.20\n", "rust-toolchain": "stable\n"}, nil},
		"node":  {map[string]string{".nvmrc": "99\n"}, []string{".nvmrc wants node 99, the image has " + node.version}},
		"alias": {map[string]string{".nvmrc": "lts/*\n"}, nil},
		"python": {map[string]string{".python-version": "3.13\n3.12\n"},
			[]string{".python-version wants python 3.13, the image has 3.11"}},
		"go": {map[string]string{"go.mod": "module x\n\ngo 1.99\n"},
			[]string{"go.mod wants go 1.99, the image has " + strings.TrimPrefix(root.version, "go")}},
		"rust": {map[string]string{"rust-toolchain.toml": "[toolchain]\nchannel = \"nightly-2024-01-01\"\n"},
			[]string{"rust-toolchain.toml wants rust nightly-2024-01-01"}},
		"long": {map[string]string{"rust-toolchain": strings.Repeat("\x1b[2Jx", 10000)},
			[]string{"rust-toolchain wants rust "}},
	} {
		t.Run(name, func(t *testing.T) {
			repo := newProject(t).commit(c.files)
			_, notes, err := be.planLayers(
				newContext(t), Request{Toolchains: []string{"go", "node", "python", "rust"}, Repo: repo}, newBuiltBase())
			if err != nil {
				t.Fatal(err)
			}
			if len(notes) != len(c.want) {
				t.Fatalf("notes %q, want %q", notes, c.want)
			}
			for i := range notes {
				if !strings.HasPrefix(notes[i], c.want[i]) || len(notes[i]) > 200 || strings.Contains(notes[i], "\x1b") {
					t.Errorf("note %q, want %q", notes[i], c.want[i])
				}
			}
		})
	}
}

func (be *testBuilder) hostTree(t *testing.T, name string) hostTree {
	t.Helper()
	for _, known := range toolchains() {
		if known.Name == name {
			tree, err := be.findTree(newContext(t), known)
			if err != nil {
				hosttest.Lacks(t, "no %s on this host: %v", name, err)
			}
			return tree
		}
	}
	t.Fatalf("%s is not a toolchain", name)
	return hostTree{}
}

// The key of a toolchain of this host is its version, and sizes and times of
// files; Go's has had no names of them from the start.
func TestIdentityOfTrees(t *testing.T) {
	be := newTestBuilder(t)
	for name, want := range map[string]string{"go": "V n n n n",
		"node": "V bin/node n n lib/node_modules/npm/package.json n n"} {
		tree := be.hostTree(t, name)
		got := strings.Join(append([]string{"V"}, tree.keyInputs[1:]...), " ")
		if got = regexp.MustCompile(`\b[0-9]+\b`).ReplaceAllString(got, "n"); got != want ||
			tree.keyInputs[0] != tree.version {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A program of a newer system than the base is not copied into it.
func TestRunsInBase(t *testing.T) {
	for v, want := range map[string]bool{"2.36": false, "2.37": true, "2.4": false, "3.0": true, "PRIVATE": true, "": true,
		"2.36.1": true} {
		if got := isNewer(v, [3]int{2, 36}); got != want {
			t.Errorf("newer(%q) = %v", v, got)
		}
	}
	if err := runsInBase("/etc/passwd", nil); err == nil {
		t.Error("a text counts as a program")
	}
}

func TestUnknownToolchains(t *testing.T) {
	requireCode(t, checkToolchains([]string{"cobol"}), company.EInvalid, "cobol")
	requireCode(t, checkToolchains([]string{"go", "go"}), company.EInvalid, "twice")
	for _, known := range toolchains() {
		if err := checkToolchains([]string{known.Name, "pnpm"}); err != nil {
			t.Error(err)
		}
	}
}

// An image for Go alone has no compiler of C, and asks Go for none.
func TestGoWithoutC(t *testing.T) {
	be := newTestBuilder(t)
	plain := be.mustEnsure(t, Request{Toolchains: []string{"go"}})
	if out := be.mustRun(t, plain, `go env CGO_ENABLED; command -v gcc || echo no compiler`); out != "0\nno compiler\n" {
		t.Errorf("%q", out)
	}
}

// A version that says its toolchain's name is shown without it.
func TestFullNameOfATree(t *testing.T) {
	for want, tree := range map[string]hostTree{
		"go1.26.8":    {Toolchain: ecosystem.Toolchain{Title: "Go"}, version: "go1.26.8"},
		"Node 22.0.0": {Toolchain: ecosystem.Toolchain{Title: "Node"}, version: "22.0.0"},
	} {
		if got := tree.fullName(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
