package python

import (
	"strings"
	"testing"
)

// Each text of a lock file that goes into a line of pip's is what its field holds, and no further line, option,
// address, variable or remark.
func TestFormsOfFields(t *testing.T) {
	long := "python_version >= '3'" + strings.Repeat(" or python_version >= '3'", 100_000)
	for name, c := range map[string]struct {
		fits fieldRule
		good []any
		bad  []any
	}{
		"markers": {isMarker,
			[]any{"", "<empty>", "python_version >= '3.8'", `python_version>="3.8"and os.name=='nt'`, long,
				"(python_version not in '3.0, 3.1' or extra == 'a-b') and (sys_platform == 'linux')", "'x' in dependency_groups",
				"((os_name == 'nt'))", `python_full_version ~= "3.8.1"`, "extra == 'extra-3-pkg-cpu' or extra == 'group-3-pkg-x'"},
			[]any{nil, 1, []any{"os_name == 'nt'"}, "x", "os_name == 'nt' #", "os_name == 'nt'\n", "os_name == 'nt'\u2028",
				"os_name == 'nt'\u0085",
				"os_name == 'nt'\v", "os_name == 'nt'\x1c", "os_name == 'nt' \\", "os_name == ' --hash=x'", "os_name == ' -r'",
				"os_name == '#'",
				"os_name == '${X}'", "(os_name == 'nt'", "os_name == 'nt')", "os_name == 'nt' or",
				"os_name == 'nt' os_name == 'nt'",
				"os_name == 'ä'", "os_name\u00a0== 'nt'", "os_name = 'nt'", "os_name == 'nt' ; x", ")os_name == 'nt'("}},
		"digests": {isDigest, []any{"sha256:0af", "blake2b_256:0"},
			[]any{"sha256:0 ", "sha256:0\n", "sha256:", "0", "sha256:0G", "sha256:0 --hash=sha256:1", 1}},
		"digests by algorithm": {isDigestTable, []any{map[string]any{"sha256": "0af", "md5": "0"}},
			[]any{map[string]any{"sha256": "0\n"}, map[string]any{"sha256\n": "0"}, map[string]any{"sha256": 0},
				"sha256:0", []any{}}},
		"extras": {listOf(isExtra), []any{[]any{}, []any{"x", "a-b.c_d"}},
			[]any{"x", []any{"x]"}, []any{"x\n"}, []any{1}, map[string]any{"x": 1}}},
		"requirements": {isRequirement,
			[]any{"a", "a[b]>=1,<2; os_name == 'nt'", "a (>=1,<2 || >=3)", "a @ git+https://x.example/a@0#egg=a"},
			[]any{"-r x", "a\nb", "a ; x", "a -r x", "a #", 1, "https://x.example/a", "a @ https://x.example/a.whl\nb"}},
		"pipenv's versions": {matchText(pipenvVersionRE), []any{"==1.0", "*", ">=1.0, <2", "===2004d", "~=1.0", "==1.*"},
			[]any{"1.0", "", "==1.0 @ x", "==1.0\n", "==1.0;x", "==", 1}},
		"lines": {hasLines, []any{"x y", 1, true, []any{"x"}, map[string]any{"x": []any{map[string]any{"y": "z"}}}},
			[]any{"x\n", "x\u2029", "x -r", "x #", []any{"x\r"}, map[string]any{"x\n": 1},
				map[string]any{"x": []any{map[string]any{"y": "\f"}}}}},
	} {
		for _, value := range c.good {
			if !c.fits(value) {
				t.Errorf("%s: %.100q is refused", name, value)
			}
		}
		for _, value := range c.bad {
			if c.fits(value) {
				t.Errorf("%s: %.100q is taken", name, value)
			}
		}
	}
}

// A requirement in a list has digests in the one form in which tools write them, and no other option: else its line
// must be the base's, and counts as a digest that no registry has.
func TestDigestsOfLists(t *testing.T) {
	for text, want := range map[string]string{
		"a==1.0 \\\n    --hash=sha256:0a \\\n    --hash=sha256:0B\n":                 "sha256:0a sha256:0b",
		"a==1.0 ; os_name == 'nt' \\\n    --hash=sha256:0a\t--hash=sha256:0b  # x\n": "sha256:0a sha256:0b",
		"a==1.0 --hash sha256:0a\n":               "sha256:0a",
		"a==1.0\t--hash=sha256:0a\n":              "sha256:0a",
		"a==1.0 # --hash=x\n":                     "",
		"--index-url https://x.example\na==1.0\n": "",
		"-f 'x y'\na==1.0\n":                      "",
		"a==1.0 --hash sha256:0a ; x\n":           "odd",
		"a==1.0 --has=sha256:0a\n":                "odd",
		"a==1.0 --hash='sha256:0a'\n":             "odd",
		"a==1.0 --hash\n":                         "odd",
		"a==1.0 --hash=sha256:0a\u00a0--hash=x\n": "odd",
		"a==1.0\u00a0--x --hash=sha256:0a\n":      "odd",
		"a==1.0 --hash=sha256:0a --no-deps\n":     "odd",
		"a==1.0 --hash=sha256:0a \\--hash=x\n":    "odd",
		"a==1.0 --hash=sha256:0a --h'a'sh=x\n":    "odd",
		"a==1.0 -f ' --hash=sha256:0a '\n":        "odd",
		"a==1.0 --hash=sha256:${X}\n":             "odd",
		"a==1.0 --config-settings x=y\n":          "odd",
	} {
		odd := Ecosystem{}.ParseSources("requirements.txt", []byte(text))
		err := Ecosystem{}.CheckForm("requirements.txt", []byte(text))
		if err != nil || (len(odd) == 1) != (want == "odd") {
			t.Errorf("%q: %v, %v", text, odd, err)
		}
		for _, digests := range readDigests("requirements.txt", []byte(text)) {
			if got := strings.Join(digests, " "); got != want && !(want == "odd" && strings.HasPrefix(got, "-")) {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
}
