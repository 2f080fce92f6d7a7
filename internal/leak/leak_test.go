package leak

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

const own = `s3cr3t/with+odd="chars"of-the-office`

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
		"reversed":           reversed(own),
		"in base64":          std.EncodeToString([]byte(own)),
		"after one letter":   std.EncodeToString([]byte("x" + own + "y")),
		"after two":          std.EncodeToString([]byte("xy" + own)),
		"after many":         std.EncodeToString([]byte("user:" + own + ":more")),
		"in base64 for URLs": base64.RawURLEncoding.EncodeToString([]byte("a=" + own)),
		"in a binary":        "\x00\x01" + own + "\x00",
	} {
		got := s.Scan("a.go", []byte("line\n"+text+"\n"))
		if len(got) == 0 || got[0].Line != 2 || got[0].What != "the value of THE_KEY" {
			t.Errorf("%s: %+v", name, got)
		}
		if strings.Contains(fmt.Sprintf("%+v", got), own) {
			t.Errorf("%s: the finding holds the secret", name)
		}
	}
	if got := s.Scan("a.go", []byte("abc, and nothing else of ours")); len(got) > 0 {
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
		"-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA75Pq\n", 10) + "-----END RSA PRIVATE KEY-----": "private-key",
	} {
		got := s.Scan("config.txt", []byte("first\n"+text))
		if len(got) == 0 || got[0].Rule != rule || got[0].Line != 2 || strings.Contains(fmt.Sprintf("%+v", got), pat) {
			t.Errorf("%s: %+v", rule, got)
		}
	}
	if got := s.Scan("", []byte("add a token\n\n"+pat)); len(got) != 1 || got[0].Line != 3 {
		t.Errorf("in a message: %+v", got)
	}
	for _, text := range []string{"", "func main() {}", "token = os.Getenv(\"GITHUB_TOKEN\")", "password: ${PASSWORD}", "sha256:" + strings.Repeat("ab12", 16), "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"} {
		if got := s.Scan("a.go", []byte(text)); len(got) > 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	// A mark says whether it is the same secret, in one office alone.
	one, two := s.Scan("a", []byte(pat)), s.Scan("b", []byte("x\n"+pat))
	if one[0].Mark != two[0].Mark || one[0].Mark == New(nil, "other").Scan("a", []byte(pat))[0].Mark {
		t.Errorf("%+v %+v", one, two)
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
		for _, got := range s.Scan(path, text) {
			if got.Line < 1 || got.Mark == "" {
				t.Errorf("%+v", got)
			}
		}
	})
}
