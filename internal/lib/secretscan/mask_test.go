package secretscan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Keys of the forms that servers give out, put together here so that no file has one.
var (
	openAIKey    = "sk-proj-" + strings.Repeat("aB3_", 10)
	anthropicKey = "sk-ant-api03-" + strings.Repeat("x9-Y", 20)
	privateKey   = "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpQIBAAKCAQEA1k1NO4wz\n", 8) +
		"-----END RSA PRIVATE KEY-----"
	jwt         = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w"
	githubToken = "ghp_" + strings.Repeat("a1B2", 9)
)

// maskedTexts has a text for each mask, with the part that must go.
var maskedTexts = []struct {
	name, before, secret, after string
	shown                       bool // only where people are shown it
}{
	{"OPENAI_KEY", "key: ", openAIKey, ".", false},
	{"OPENAI_KEY", `{"k":"`, "sk-" + strings.Repeat("Zz9", 16), `"}`, false},
	{"ANTHROPIC_KEY", "key=", anthropicKey, "\n", false},
	{"PRIVATE_KEY", "a\n", privateKey, "\nb", false},
	{"PRIVATE_KEY", `"`, strings.ReplaceAll(privateKey, "\n", `\n`), `"`, false},
	{"PRIVATE_KEY", "a\n", strings.TrimSuffix(privateKey, "\n-----END RSA PRIVATE KEY-----"), "", false}, // cut
	{"JWT", "got ", jwt, " back", false},
	{"AUTH_HEADER", "Authorization: ", "Bearer abc123", "\n", false},
	{"AUTH_HEADER", `-H "authorization: `, "Basic dXNlcjpwYXNzd29yZA==", `"`, false},
	{"AUTH_HEADER", "Authorization: ", "0123456789abcdef", "\n", true},
	{"COOKIE", "Cookie: ", "session=abc; other=d", "\nHost: h", true},
	{"SET_COOKIE", "Set-Cookie: ", "id=a3fWa; Secure", "\r\n", true},
	{"JSON_CREDENTIAL", `{"db_password": "`, "hunter2", `", "user": "ann"}`, true},
	{"JSON_CREDENTIAL", `{\"apiKey\":\"`, "abcd", `\"}`, true},
	{"ENV_CREDENTIAL", "export STRIPE_API_KEY=", "plain-value", "\n", true},
	{"ENV_CREDENTIAL", `POSTGRES_PASSWORD="`, "postgres", `"`, true},
	{"BEARER_TOKEN", "use Bearer ", "a1b2c3d4e5f6a7b8", " now", false},
	{"GENERIC_SECRET", "token ", githubToken, "", false},
	{"GENERIC_SECRET", "postgres://app:", "s3cret", "@db/x", true},
	{"GENERIC_SECRET", "https://h/x?access_token=", "abc", "&y=1", true},
}

func TestKindsOfMasks(t *testing.T) {
	for _, c := range maskedTexts {
		want := c.before + "[MASKED:" + c.name + "]" + c.after
		text := c.before + c.secret + c.after
		if got := forms.Mask(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if c.shown {
			want = text
		}
		if got := forms.Redact(text); got != want {
			t.Errorf("for agents, %q: %q, want %q", text, got, want)
		}
	}
}

var forms *Scanner

// LOG-6: the rules name the eleven kinds in their order of priority.
func TestMaskNames(t *testing.T) {
	var names []string
	for _, r := range maskRules().Rules {
		names = append(names, r.ID)
	}
	want := []string{"ANTHROPIC_KEY", "OPENAI_KEY", "PRIVATE_KEY", "JWT", "AUTH_HEADER", "COOKIE", "SET_COOKIE",
		"JSON_CREDENTIAL", "ENV_CREDENTIAL", "BEARER_TOKEN", "GENERIC_SECRET"}
	if names = slices.Compact(names); !slices.Equal(names, want) {
		t.Error(names)
	}
	got := forms.Mask("OPENAI_API_KEY=" + openAIKey)
	if got != "OPENAI_API_KEY=[MASKED:OPENAI_KEY]" {
		t.Error(got)
	}
}

// What is no secret stays as it is.
func TestPlainTextIsNotMasked(t *testing.T) {
	for _, text := range []string{
		"", "task-1 and disk-0123456789012345678901234567", "Authorization: cfg.AuthorizationPlugins", "Bearer token",
		"curl -H \"Authorization: Bearer $TOKEN\"", "password: string", `"max_tokens": 4096, "js-tokens": "^4.0.0"`,
		"TOKEN=$(cat f)", "API_KEY=${KEY}", "-----BEGIN PRIVATE KEY-----", "git@github.com:a/b.git", "https://h/a@b",
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "the secret of token buckets",
		"[MASKED:OPENAI_KEY] and TOKEN=[MASKED:ENV_CREDENTIAL]",
	} {
		if got := forms.Mask(text); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// Feature: lumberjack, Property 21: Context Redaction
//
// A secret is masked wherever it stands, what is around it stays, and what was masked stays as it is.
func TestMaskProperty(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"func", "the key", "token", "\n", "=", "\x00", "ü", "x := 1;", "€"}),
		0, 20)
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(maskedTexts).Draw(t, "secret")
		before := strings.Join(words.Draw(t, "before"), " ") + "\n"
		after := "\n" + strings.Join(words.Draw(t, "after"), " ")
		got := forms.Mask(before + c.before + c.secret + c.after + after)
		if strings.Contains(got, c.secret) || !strings.HasPrefix(got, before+c.before) ||
			!strings.HasSuffix(got, c.after+after) {
			t.Fatalf("%q", got)
		}
		if again := forms.Mask(got); again != got {
			t.Fatalf("%q, then %q", got, again)
		}
	})
}

// Feature: lumberjack, Property 24: Audit Log Redaction
//
// Masking a JSON text masks its strings and changes nothing else.
func TestMaskJSONProperty(t *testing.T) {
	var values func(depth int) *rapid.Generator[any]
	values = func(depth int) *rapid.Generator[any] {
		text := rapid.Custom(func(t *rapid.T) any {
			c := rapid.SampledFrom(maskedTexts).Draw(t, "secret")
			return rapid.SampledFrom([]string{c.secret, c.before + c.secret + c.after, "plain \"<\\ text\n", ""}).Draw(t, "text")
		})
		if depth == 0 {
			return text
		}
		return rapid.OneOf(text, rapid.Just[any](nil), rapid.Just[any](1.5), rapid.Just[any](true),
			rapid.Map(rapid.SliceOfN(values(depth-1), 0, 3), func(list []any) any { return list }),
			rapid.Map(rapid.MapOfN(rapid.StringN(0, 5, -1), values(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	var masked func(v any) any
	masked = func(v any) any {
		switch v := v.(type) {
		case string:
			return forms.Mask(v)
		case []any:
			out := []any{}
			for _, e := range v {
				out = append(out, masked(e))
			}
			return out
		case map[string]any:
			out := map[string]any{}
			for k, e := range v {
				out[forms.Mask(k)] = masked(e)
			}
			return out
		}
		return v
	}
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(forms.MaskJSON(text), &got); err != nil {
			t.Fatal(err)
		}
		if want := masked(v); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q\nwant\n%q", got, want)
		}
	})
}

// LOG-7: a text that cannot be searched to its end is not shown from there on.
func TestMaskFailsClosed(t *testing.T) {
	end := openAIKey + " the end"
	got := forms.Mask("begins " + strings.Repeat("password=x ", 1<<20) + end)
	if !strings.HasPrefix(got, "begins password=x") || strings.Contains(got, openAIKey) || strings.Contains(got, "the end") ||
		!strings.Contains(got, "bytes that may have secrets]") {
		t.Errorf("%.100q … %q", got, got[max(0, len(got)-200):])
	}
}

// The office's own secrets are masked in every spelling.
func TestMaskOfOwnSecrets(t *testing.T) {
	s := New([]Own{{"THE_KEY", own}}, "k3fq")
	for _, spelled := range secretSpellings(own) {
		if got := s.Redact("a " + spelled + " b " + spelled); strings.Contains(got, spelled) ||
			strings.Count(got, "[MASKED:GENERIC_SECRET]") != 2 {
			t.Errorf("%q: %q", spelled, got)
		}
	}
}
