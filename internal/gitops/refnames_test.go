package gitops

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"

	"pgregory.net/rapid"
)

// Feature: agent-execution-engine, Property 6: Git Naming Conventions
//
// GIT-2: for any ticket and any description the branch is a valid reference
// and the commit subject names the ticket.
func TestNamesOfAnything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	any := rapid.OneOf(rapid.String(),
		rapid.StringOfN(rapid.RuneFrom([]rune("a.-_/~^:@{}[]\\ \n\x00é…😀.lock")), 0, 300, -1))
	var asked []string
	rapid.Check(t, func(t *rapid.T) {
		title := any.Draw(t, "title")
		ticket := string(
			company.NewSubtaskID(company.NewTaskID(rapid.IntRange(1, 99999).Draw(t, "task")),
				rapid.IntRange(1, 99).Draw(t, "n")))
		b := BranchName(ticket, title)
		if !regexp.MustCompile(`^agent/` + ticket + `-[a-z0-9._-]{1,64}$`).MatchString(b) {
			t.Fatalf("%q", b)
		}
		if !BranchPattern(ticket).MatchString("refs/heads/" + b) {
			t.Fatalf("the push rule would refuse %q", b)
		}
		if odd := BranchName(any.Draw(t, "ticket"), title); !validRef("refs/heads/" + odd) {
			t.Fatalf("%q", odd)
		} else if len(asked) < 50 {
			asked = append(asked, odd)
		}
		msg := CommitMessage(ticket, title)
		subject, _, _ := strings.Cut(msg, "\n")
		if !strings.HasPrefix(subject, "["+ticket+"] ") || len(subject) == len(ticket)+3 {
			t.Fatalf("subject %q", subject)
		}
		for _, r := range msg {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("control character in %q", msg)
			}
		}
	})
	// Git itself is the judge of what a valid reference is.
	for _, b := range asked {
		gitexectest.Git(t, dir, "check-ref-format", "refs/heads/"+b)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ticket, title, want string }{
		{"t12-03", "Add rate limiting to the API", "agent/t12-03-add-rate-limiting-to-the-api"},
		{"t12-03", "", "agent/t12-03-work"},
		{"t12-03", "Überprüfe Größe", "agent/t12-03-uberprufe-gro-e"},
		{"t12-03", "../../main.lock", "agent/t12-03-main-lock"},
		{"t1-01", strings.Repeat("x", 200), "agent/t1-01-" + strings.Repeat("x", 48)},
	} {
		if got := BranchName(c.ticket, c.title); got != c.want {
			t.Errorf("BranchName(%q, %q) = %q, want %q", c.ticket, c.title, got, c.want)
		}
	}
	if got := CommitMessage("t12-03", "fix  it\r\n\r\nbecause\x1b[31m"); got != "[t12-03] fix it\n\nbecause[31m\n" {
		t.Errorf("CommitMessage = %q", got)
	}
}

// REV-1: main and master are no integration branch.
func TestIntegrationBranch(t *testing.T) {
	t.Parallel()
	got, err := IntegrationBranch("develop", "t12", "k3fq")
	if err != nil || got != "develop-t12-k3fq" {
		t.Fatalf("%q, %v", got, err)
	}
	for _, p := range []string{"main", "master", "Main", "MASTER", "HEAD", "refs/heads/main", "heads/master"} {
		_, err := IntegrationBranch(p, "t12", "k3fq")
		requireCode(t, err, company.EProtected)
		_, err = Open(Config{Root: t.TempDir(), IntegrationPrefix: p})
		requireCode(t, err, company.EProtected)
	}
	for _, p := range []string{"feature/company", "users/jane/PROJ-123", "a.b", "feature/#12", "v1.0+x"} {
		if got, err := IntegrationBranch(p, "t12", "k3fq"); err != nil || got != p+"-t12-k3fq" {
			t.Errorf("%q, %v", got, err)
		}
		if err := (&Store{cfg: Config{IntegrationPrefix: "develop"}}).allowRef("refs/heads/" + p + "-t12-k3fq"); err != nil {
			t.Errorf("of an earlier setting: %v", err)
		}
	}
	for _, p := range []string{"", "-x", "a//b", "/a", "a/", "a..b", "a b", "a\n", "a/.b", "a/b.lock/c", "agent/x", "a@{b",
		"a~b", "$(id)", "a;b", "ä", "refs/heads/a", strings.Repeat("x", company.MaxBranchPrefix+1)} {
		_, err := IntegrationBranch(p, "t12", "k3fq")
		requireCode(t, err, company.EInvalid)
	}
	_, err = IntegrationBranch("develop", "t12", "K3FQ")
	requireCode(t, err, company.EInvalid)
	_, err = IntegrationBranch("develop", "x", "k3fq")
	requireCode(t, err, company.EInvalid)
}

// REV-1: the one choke point.
func TestAllowRef(t *testing.T) {
	t.Parallel()
	s := &Store{cfg: Config{IntegrationPrefix: "develop"}}
	for _, ref := range []string{"refs/heads/develop", "refs/heads/develop-t12-k3fq", "refs/heads/agent/t12-03-x",
		"refs/company/runs/t12-03.2"} {
		if err := s.allowRef(ref); err != nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for _, ref := range []string{
		"", "main", "refs/heads/main", "refs/heads/master", "refs/heads/Main", "refs/heads/feature", "refs/heads/developer",
		"refs/heads/develop-..", "refs/heads/agent/../main", "refs/tags/v1", "refs/replace/x",
		"refs/remotes/origin/main", "HEAD",
		"refs/heads/agent/x\nrefs/heads/main", "refs/heads/agent/x.lock", "refs/heads/agent/-x",
		"refs/heads/agent/\u202emain", "refs/heads/agent/",
	} {
		if err := s.allowRef(ref); !errors.Is(err, company.E(company.EProtected, "")) {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://user:pa55@host/x.git":        "https://[MASKED:GENERIC_SECRET]@host/x.git",
		"fatal: Authorization: Bearer abcdef": "fatal: Authorization: [MASKED:AUTH_HEADER]",
		"token ghp_0123456789abcdefABCDEF":    "token [MASKED:GENERIC_SECRET]",
		"https://h/x?access_token=abc&y=1":    "https://h/x?access_token=[MASKED:GENERIC_SECRET]&y=1",
		"ssh://git@host/x.git":                "ssh://[MASKED:GENERIC_SECRET]@host/x.git",
		"nothing to hide":                     "nothing to hide",
	} {
		if got := Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
}
