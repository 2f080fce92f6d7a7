package depproxy

import (
	"net/url"
	"strings"
	"testing"
)

// A lock file is anybody's text, and is read on the host. The parser's own
// stack is not a bound: its overflow ends the process, with every task in it.
func TestTOMLDepthLimit(t *testing.T) {
	deep := strings.Repeat("[", 7<<20)
	for name, text := range map[string]string{
		"arrays":             "x = " + deep,
		"tables":             "x = " + strings.Repeat("{a=", 2<<20),
		"closed in comments": "x = " + strings.Repeat("[ # ]\n", 1<<20),
		"closed in texts":    "x = " + strings.Repeat("['''],''',\n", 500_000),
		"after four quotes":  `x = ["""a"""", ` + deep + "\n#\"",
		"after five quotes":  `x = ["""a""""", ` + deep + "\n#\"",
		"after an escape":    `x = ["\\", ` + deep + "\n#\"",
		"after a literal":    `x = ['\', ` + deep + "\n#'",
		"a key of many":      strings.Repeat("a.", 3<<20) + "a = 1",
		"a header of many":   "[" + strings.Repeat("a . ", 1<<20) + "a]",
		"quoted parts":       strings.Repeat(`"a".`, 1<<20) + "a = 1",
		"too large":          strings.Repeat("#\n", 5<<20),
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"Cargo.lock", "pyproject.toml", "uv.lock"} {
				if all, notes := ParseLocks(map[string][]byte{file: []byte(text)}); len(all) != 0 || len(notes) != 1 {
					t.Errorf("%s: %d dependencies, notes %q", file, len(all), notes)
				}
			}
		})
	}
}

// What is not deep is read, whatever its texts and comments hold.
func TestTOMLBracketsInStrings(t *testing.T) {
	many := strings.Repeat("[{", 100)
	text := "# " + many + "\na = \"" + many + "\\\"" + many + "\"\nb = '" + many + "\\'\nc = \"\"\"" + many + "\n\"" +
		many + "\"\"\"\"\"\nd = '''''" + many + "'''\n" +
		strings.Repeat("[[package]]\nname = \"x\"\nversion = \"1.2.3\"\nsource = { registry = \"https://pypi.org/simple\" "+
			"}\n", 200)
	all, notes := ParseLocks(map[string][]byte{"uv.lock": []byte(text)})
	if len(all) != 1 || all[0].Name != "x" || len(notes) != 0 {
		t.Errorf("%v, notes %q", all, notes)
	}
}

// T16: behind a proxy nothing is dialled here, so an address is told by its
// form.
func TestNumericHostForms(t *testing.T) {
	tr, err := newTransport(Upstreams{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.close()
	for _, host := range []string{"127.1", "0x7f.0.0.1", "0x7f.1", "017700000001.", "127.0.0.1.", "2130706433", "a.b.1",
		"[::ffff:7f00:1]", "10.0.0.1", "x.internal"} {
		u := &url.URL{Scheme: "https", Host: host, Path: "/x"}
		if tr.checkForeignURL(u) == nil {
			t.Errorf("%s is taken for a public host", host)
		}
	}
	for _, host := range []string{"files.pythonhosted.org", "1.example.com", "x.3com.com", "9.9.9.9"} {
		if err := tr.checkForeignURL(&url.URL{Scheme: "https", Host: host}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
