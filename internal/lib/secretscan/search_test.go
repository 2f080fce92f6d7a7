package secretscan

import (
	"bytes"
	"context"
	"math/rand"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// sampleMatch makes a text that an expression matches, as far as boundaries allow.
func sampleMatch(re *syntax.Regexp, r *rand.Rand) string {
	var b strings.Builder
	repeat := func(least, most int) {
		for range least + r.Intn(most-least+1) {
			b.WriteString(sampleMatch(re.Sub[0], r))
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		var letters []rune
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= min(re.Rune[i+1], 126); c++ {
				if strings.ContainsRune(alphanumeric, c) || c == '-' || c == ' ' {
					letters = append(letters, c)
				}
			}
		}
		if len(letters) == 0 {
			return string(re.Rune[0])
		}
		return string(letters[r.Intn(len(letters))])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "." // some rules mean a dot
	case syntax.OpStar:
		repeat(0, 3)
	case syntax.OpPlus:
		repeat(1, 12)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 20
		}
		repeat(re.Min, most)
	case syntax.OpAlternate:
		return sampleMatch(re.Sub[r.Intn(len(re.Sub))], r)
	default:
		for _, s := range re.Sub {
			b.WriteString(sampleMatch(s, r))
		}
	}
	return b.String()
}

// findInWhole has a rule look at a whole text, without keywords and windows.
func findInWhole(r *rule, path, text string) (secrets []string) {
	for _, at := range r.re.FindAllStringSubmatchIndex(text, -1) {
		m, ok := r.extractSecret(text, at)
		if ok && !shapes().Allowlist.matches(path, m, text, at) && !r.isAllowed(path, m, text, at) {
			secrets = append(secrets, m.secret)
		}
	}
	return secrets
}

// fillers are texts without secrets: two that people write, and those that were made to be
// slow to look through.
func fillers(size int) map[string]string {
	r := rand.New(rand.NewSource(1))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphanumeric[r.Intn(len(alphanumeric))]
		}
		return string(b)
	}
	out := map[string]string{}
	for name, line := range map[string]func() string{
		"prose":        func() string { return "the quick brown fox jumps over the lazy dog and has no care at all\n" },
		"code":         func() string { return "func (s *Scanner) token(key string) []match { return s.token[key] }\n" },
		"letters":      func() string { return word(60) + "\n" },
		"assignments":  func() string { return "key=" },
		"a word":       func() string { return "key" },
		"vendors":      func() string { return "private-ai" },
		"private keys": func() string { return "-----BEGIN PRIVATE KEY-----" },
	} {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(line())
		}
		out[name] = b.String()
	}
	return out
}

// A secret of any kind is found wherever it stands in a text, or the text is said not to be
// looked through.
func TestPlantedSecrets(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	s := New(nil, "k3fq")
	const apart = 600
	prose := strings.Repeat("lorem dolor amet ", apart/17)
	texts := fillers(64 << 10)
	names := slices.Collect(func(yield func(string) bool) {
		for name := range texts {
			if !yield(name) {
				return
			}
		}
	})
	slices.Sort(names)
	planted, unseen := 0, 0
	for i, one := range shapes().Rules {
		if one.Regex == "" || testing.Short() && i%4 > 0 {
			continue
		}
		path := map[string]string{"freemius-secret-key": "a.php", "hashicorp-tf-password": "a.tf",
			"kubernetes-secret-yaml": "a.yaml", "nuget-config-password": "nuget.config"}[one.ID]
		one.compile()
		parsed, err := syntax.Parse(one.Regex, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		var snippet string
		var secrets []string
		for range 60 {
			if snippet = "\n" + sampleMatch(parsed, r) +
				"\n"; !slices.ContainsFunc(one.Keywords,
				func(k string) bool { return strings.Contains(strings.ToLower(snippet), k) }) {
				snippet = "\n" + one.Keywords[0] + snippet
			}
			if secrets = findInWhole(one, path, prose+snippet+prose); len(secrets) > 0 {
				break
			}
		}
		if len(secrets) == 0 {
			continue
		}
		planted++
		name := names[r.Intn(len(names))]
		if one.ID == "private-key" && name == "private keys" || path != "" && name == "assignments" {
			name = "prose"
		}
		at := r.Intn(len(texts[name]))
		text := texts[name][:at] + prose + snippet + prose + texts[name][at:]
		x := s.NewSearch(t.Context())
		x.steps = rand.New(rand.NewSource(int64(planted))).Intn(4 << 20) // used up before the secret, or not
		got := x.Scan(path, []byte(text))
		for _, secret := range secrets {
			if slices.ContainsFunc(got.Findings, func(f Finding) bool { return f.Mark == s.fingerprint(secret) }) {
				continue
			}
			if end := len(text) - got.Unseen; end > at+2*len(prose)+len(snippet) || got.Unseen == 0 || got.Mark == "" {
				t.Errorf("%s at %d of %d in %s is not found, and %d bytes are unseen: %q", one.ID, at, len(text), name,
					got.Unseen, snippet)
			}
			unseen++
		}
	}
	if planted < 200 && !testing.Short() || planted < 50 || unseen == 0 {
		t.Errorf("%d secrets were planted, %d not seen", planted, unseen)
	}
}

// Texts that were made to be slow are looked through in part, at a bounded cost, and a text
// full of secrets has a bounded number of findings.
func TestSearchIsBounded(t *testing.T) {
	hosttest.Long(t, "it spends the whole budget of a search on each of many texts")
	s := New([]Own{{"THE_KEY", own}}, "k3fq")
	for name, text := range fillers(2 << 20) {
		text += own
		x := s.NewSearch(t.Context())
		got := x.Scan("a.txt", []byte(text))
		if spent := searchSteps - x.steps; spent > textSteps {
			t.Errorf("%s: %d steps", name, spent)
		}
		if hostile := name == "assignments" || name == "vendors" || name == "private keys"; hostile != (got.Unseen > 0) {
			t.Errorf("%s: %d bytes are not looked through", name, got.Unseen)
		}
		if !slices.ContainsFunc(got.Findings,
			func(f Finding) bool { return f.Rule == "own-secret" && f.Line == 1+strings.Count(text, "\n") }) {
			t.Errorf("%s: the office's own secret at the end is not found: %+v", name, got.Findings)
		}
	}
	r := rand.New(rand.NewSource(3))
	var many bytes.Buffer
	for range 10_000 {
		token := make([]byte, 36)
		for i := range token {
			token[i] = alphanumeric[r.Intn(len(alphanumeric))]
		}
		many.WriteString("ghp_" + string(token) + "\n")
	}
	got := s.NewSearch(t.Context()).Scan("a.txt", many.Bytes())
	if len(got.Findings) != maxFindings || got.Unseen < many.Len()*9/10 ||
		got.Findings[maxFindings-1].Line > 2*maxFindings {
		t.Errorf("%d findings, %d bytes unseen, the last at line %d", len(got.Findings), got.Unseen,
			got.Findings[len(got.Findings)-1].Line)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := s.NewSearch(ended).Scan("a.txt", many.Bytes()); got.Unseen != many.Len() || got.Mark == "" {
		t.Errorf("after the end of the context %d of %d bytes are unseen", got.Unseen, many.Len())
	}
	x := s.NewSearch(t.Context())
	x.steps = 1 << 20
	for range 2 {
		got = x.Scan("a.txt", []byte(strings.Repeat("key=", 1<<20)))
	}
	if x.steps < 0 || got.Unseen < 4<<20-8 {
		t.Errorf("two texts have %d steps left, and of the last %d bytes are unseen", x.steps, got.Unseen)
	}
}

func BenchmarkSearch(b *testing.B) {
	s := New([]Own{{"THE_KEY", own}}, "k3fq")
	for name, text := range fillers(10 << 20) {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				s.NewSearch(b.Context()).Scan("a.txt", []byte(text))
			}
		})
	}
}
