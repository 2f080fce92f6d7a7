package secretscan

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"
)

const own = `s3cr3t/with+odd="chars"of-the-office`

// scan looks through one text, which is not too much.
func scan(s *Scanner, path string, text []byte) []Finding {
	out := s.NewSearch(context.Background()).Scan(path, text)
	if out.Unseen > 0 {
		panic(fmt.Sprintf("%d bytes of %s were not looked through", out.Unseen, path))
	}
	return out.Findings
}

// T21: the office's own secrets are found however they are written down, and
// a finding does not hold them.
func TestOwnSecrets(t *testing.T) {
	s := New([]Own{{"THE_KEY", own}, {"SHORT", "abc"}, {"EMPTY", ""}}, "k3fq")
	std := base64.StdEncoding
	for name, text := range map[string]string{
		"as it is":           "x := `" + own + "`",
		"in hex":             hex.EncodeToString([]byte(own)),
		"in HEX":             strings.ToUpper(hex.EncodeToString([]byte(own))),
		"in an address":      "https://x/?k=" + url.QueryEscape(own),
		"in a path":          "https://x/" + url.PathEscape(own),
		"in JSON":            fmt.Sprintf("%q", own),
		"reversed":           reverseString(own),
		"in base64":          std.EncodeToString([]byte(own)),
		"after one letter":   std.EncodeToString([]byte("x" + own + "y")),
		"after two":          std.EncodeToString([]byte("xy" + own)),
		"after many":         std.EncodeToString([]byte("user:" + own + ":more")),
		"in base64 for URLs": base64.RawURLEncoding.EncodeToString([]byte("a=" + own)),
		"in a binary":        "\x00\x01" + own + "\x00",
		"in two bytes":       "\x00\x01" + strings.Join(strings.Split(own, ""), "\x00") + "\x00",
		"in four bytes":      "\x00\x01\x00" + strings.Join(strings.Split(own, ""), "\x00\x00\x00"),
	} {
		got := scan(s, "a.go", []byte("line\n"+text+"\n"))
		if len(got) == 0 || got[0].Line != 2 || got[0].What != "the value of THE_KEY" {
			t.Errorf("%s: %+v", name, got)
		}
		if strings.Contains(fmt.Sprintf("%+v", got), own) {
			t.Errorf("%s: the finding holds the secret", name)
		}
	}
	if got := scan(s, "a.go", []byte("abc, and nothing else of ours")); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// Known shapes are found, in messages too, and comments switch nothing off.
func TestShapes(t *testing.T) {
	s := New(nil, "k3fq")
	pat := "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
	for text, rule := range map[string]string{
		"token = " + pat:                       "github-pat",
		"token = " + pat + " # gitleaks:allow": "github-pat",
		"AWS_KEY=AKIA" + "ZQ3DRT7XWEUJ4KLM":    "aws-access-token",
		"-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA75Pq\n", 10) +
			"-----END RSA PRIVATE KEY-----": "private-key",
	} {
		got := scan(s, "config.txt", []byte("first\n"+text))
		if len(got) == 0 || got[0].Rule != rule || got[0].Line != 2 || strings.Contains(fmt.Sprintf("%+v", got), pat) {
			t.Errorf("%s: %+v", rule, got)
		}
	}
	if got := scan(s, "", []byte("add a token\n\n"+pat)); len(got) != 1 || got[0].Line != 3 {
		t.Errorf("in a message: %+v", got)
	}
	for _, text := range []string{"", "func main() {}", "token = os.Getenv(\"GITHUB_TOKEN\")", "password: ${PASSWORD}",
		"sha256:" + strings.Repeat("ab12", 16), "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"} {
		if got := scan(s, "a.go", []byte(text)); len(got) > 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	// A mark says whether it is the same secret, in one office alone.
	one, two := scan(s, "a", []byte(pat)), scan(s, "b", []byte("x\n"+pat))
	if one[0].Mark != two[0].Mark || one[0].Mark == scan(New(nil, "other"), "a", []byte(pat))[0].Mark {
		t.Errorf("%+v %+v", one, two)
	}
}

// wide is a text in UTF-16.
func wide(order binary.AppendByteOrder, mark, text string) []byte {
	out := []byte(mark)
	for _, u := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// Bytes that are not text, letters of two bytes and names that the rules leave
// out do not hide what cannot be anything else; what only may be a secret is no
// finding there.
func TestWhatLooksLikeNoText(t *testing.T) {
	s := New([]Own{{"THE_KEY", own}}, "k3fq")
	pat := "token = ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx\n"
	guess := "datadog_key = " + "7d3c1bb2a85f4e90c6d1f0a9b8e7c6d5a4f3e2b1\n"
	if got := scan(s, "a.txt", []byte(guess)); len(got) != 1 {
		t.Fatalf("the guess is none in a text: %+v", got)
	}
	for name, c := range map[string]struct {
		path string
		text []byte
	}{
		"a zero before it":         {"a.txt", []byte("\x00\n" + pat + guess)},
		"a zero beside it":         {"a.txt", []byte("\n\x00" + strings.TrimSpace(pat) + "\x00" + guess)},
		"a picture by its name":    {"a.png", []byte("\n" + pat + guess)},
		"a lock file":              {"package-lock.json", []byte("\n" + pat + guess)},
		"a folder of dependencies": {"web/node_modules/x/index.js", []byte("\n" + pat + guess)},
		"a mark of two bytes":      {"a.txt", []byte("\xff\xfe\n" + pat)},
	} {
		got := scan(s, c.path, c.text)
		if len(got) == 0 || got[0].Rule != "github-pat" || got[0].Line != 2 {
			t.Errorf("%s: %+v", name, got)
		}
		if name != "a mark of two bytes" && len(got) != 1 {
			t.Errorf("%s: a guess is a finding: %+v", name, got)
		}
	}
	// Far in a program, a keyword of the rule on the way, bytes of no letter
	// about it, and larger than what is taken for one secret.
	noise := strings.Repeat("\xff\x00\xc4\xb0 ghp_ \x00"+strings.Repeat("\xfe", 40_000), 8)
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA75Pq\n", 150) +
		"-----END RSA PRIVATE KEY-----"
	got := scan(s, "a.out", []byte(noise+"\n"+pat+noise+key+noise))
	if len(got) != 2 || got[0].Rule != "github-pat" || got[0].Line != 2 || got[1].Rule != "private-key" ||
		got[1].Line != 3 {
		t.Errorf("far in a program: %+v", got)
	}
	for name, text := range map[string][]byte{
		"UTF-16":          wide(binary.LittleEndian, "", "line\n"+pat+guess+own),
		"the other way":   wide(binary.BigEndian, "", "line\n"+pat+guess+own),
		"with a mark":     wide(binary.LittleEndian, "\xff\xfe", "line\n"+pat+guess+own),
		"with the other":  wide(binary.BigEndian, "\xfe\xff", "line\n"+pat+guess+own),
		"a byte too many": append(wide(binary.LittleEndian, "", "line\n"+pat+guess+own), 'x'),
	} {
		rules := map[string]int{}
		for _, f := range scan(s, "a.txt", text) {
			rules[f.Rule]++
		}
		if len(rules) < 3 || rules["github-pat"] != 1 || rules["own-secret"] != 1 {
			t.Errorf("%s: %v", name, rules)
		}
	}
	if got := s.ScanProse(t.Context(), "first\n"+pat+guess).Findings; len(got) != 1 || got[0].Line != 2 {
		t.Errorf("prose: %+v", got)
	}
}

// Under paths of the same way a text has the same findings.
func TestWays(t *testing.T) {
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"a.go", "b/c.md", true}, {"a.png", "go.sum", true}, {"a.go", "go.sum", false}, {"a.go", "a.tf", false},
		{"a.tf", "b.tf", true}, {"a.yaml", "a.php", false},
	} {
		if got := Way(c.one) == Way(c.other); got != c.same {
			t.Errorf("%s is read as %q, %s as %q", c.one, Way(c.one), c.other, Way(c.other))
		}
	}
}

// Every rule of the data is one that this matcher can carry out.
func TestEveryRule(t *testing.T) {
	set := shapes()
	if len(set.Rules) < 200 {
		t.Errorf("%d rules", len(set.Rules))
	}
	for _, r := range set.Rules {
		for _, p := range append([]string{r.Regex, r.Path}, allExpressions(r)...) {
			if _, err := regexp.Compile(p); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
		for _, k := range r.Keywords {
			if k != strings.ToLower(k) {
				t.Errorf("%s: keyword %q", r.ID, k)
			}
		}
	}
}

func allExpressions(r *rule) (out []string) {
	for i := range r.Allowlists {
		out = append(append(out, r.Allowlists[i].Paths...), r.Allowlists[i].Regexes...)
	}
	return out
}

func FuzzScan(f *testing.F) {
	s := New([]Own{{"THE_KEY", own}}, "k3fq")
	f.Add("a.go", []byte("token = ghp_x\n"+own))
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		for _, got := range scan(s, path, text) {
			if got.Line < 1 || got.Mark == "" {
				t.Errorf("%+v", got)
			}
		}
	})
}
