package gitops

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/gitlogin"
	"company/internal/gitops/remotetest"
)

// useLogins gives the store the logins of a president's home, and gives the home.
func (b *bundle) useLogins(t *testing.T, gitconfig string, more ...string) (home string) {
	t.Helper()
	home = t.TempDir()
	writeFiles(t, home, map[string]string{".gitconfig": gitconfig})
	env := map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM": "1"}
	for _, kv := range more {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	b.store.cfg.Logins = gitlogin.New(func(k string) (string, bool) { v, ok := env[k]; return v, ok })
	return home
}

// newConfig is the store's configuration for a store of its own.
func (b *bundle) newConfig() Config {
	cfg := b.store.cfg
	cfg.Folder = nil
	return cfg
}

// noteHelper writes a credential helper that notes each call, and gives the file of
// its notes.
func noteHelper(t *testing.T, home, user, password string) (note string) {
	t.Helper()
	note = filepath.Join(home, "note")
	script := "#!/bin/sh\necho \"$1\" >>" + note + "\n[ \"$1\" = get ] && printf 'username=" + user + "\\npassword=" +
		password + "\\n'\n"
	if err := os.WriteFile(filepath.Join(home, "helper"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFiles(
		t, home, map[string]string{".gitconfig": "[credential]\n\thelper = " + filepath.Join(home, "helper") + "\n"})
	return note
}

func readNote(t *testing.T, note string) string {
	t.Helper()
	text, err := os.ReadFile(note)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	_ = os.Remove(note)
	return string(text)
}

// GIT-12, T25: over https the president's own helper and netrc log in, where no token
// is there. The secret is in no argument, environment, log or file of ours.
func TestOwnLoginOverHTTPS(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	server := remotetest.NewHTTPS(t, "ann", canaryToken)
	origin, url := server.Repository(t, "acme/app.git", b.checkout)
	b.store.cfg.OperatorEnv = OperatorEnv(func(k string) (string, bool) { return server.CA, k == "SSL_CERT_FILE" })
	b.store.cfg.Credential = func(context.Context, string) (string, string, error) {
		return "", "", NoToken(authError("there is no token for it").Because("T is NOT SET").Fix("export T"))
	}
	const ref = "refs/heads/develop-t1-k3fq"
	push := func() error { return b.push(nil, Remote{URL: url}, ref, b.base.OID, "") }

	// Off: the answer without a token, and the home stays unread.
	requireCode(t, push(), company.EAuth, "there is no token for it", "T is NOT SET")

	home := b.useLogins(t, "")
	err := push()
	requireCode(t, err, company.EAuth, "there is no token for it",
		"T is NOT SET; ~/.netrc has no login for it, and no credential helper is set in your git configuration")
	if at(err).Hint != "export T" || at(err).Class != company.HumanRequired {
		t.Errorf("%#v", at(err))
	}

	note := noteHelper(t, home, "ann", canaryToken)
	stop := watchProcesses(t, server, canaryToken)
	if err := push(); err != nil {
		t.Fatal(err)
	}
	if seen := stop(); len(seen) > 0 {
		t.Errorf("processes held the secret: %q", seen)
	}
	if got := gitexectest.Git(t, origin, "rev-parse", ref); got != string(b.base.OID) {
		t.Error(got)
	}
	if calls := readNote(t, note); strings.Trim(calls, "get\n") != "" || calls == "" {
		t.Errorf("the helper was asked to %q", calls)
	}
	if files := append(filesWith(t, b.store.root, canaryToken), filesWith(t, b.checkout, canaryToken)...); len(
		files) > 0 || strings.Contains(b.log.String(), canaryToken) {
		t.Errorf("the secret is in %v, log %s", files, b.log)
	}

	// ~/.netrc comes before the helper, and a token before both.
	netrc := filepath.Join(home, ".netrc")
	if err := os.WriteFile(netrc, []byte("machine 127.0.0.1 login ann password "+canaryToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := push(); err != nil || readNote(t, note) != "" {
		t.Errorf("netrc: %v", err)
	}
	b.store.cfg.Credential = func(context.Context, string) (string, string, error) { return "ann", "the token", nil }
	requireCode(t, push(), company.EAuth, "refused the credential")
	if seen := server.Seen(); seen[len(seen)-1] != "ann:the token" {
		t.Errorf("%q", seen)
	}
	// A broken token is an error: no other login takes its place.
	b.store.cfg.Credential = func(context.Context, string) (string, string, error) {
		return "", "", authError("the token is broken")
	}
	requireCode(t, push(), company.EAuth, "the token is broken")
	b.store.cfg.Credential = nil

	if err := os.Chmod(netrc, 0o644); err != nil {
		t.Fatal(err)
	}
	requireCode(t, push(), company.EAuth, "~/.netrc cannot be used", "others can read it")
	if err := os.Remove(netrc); err != nil {
		t.Fatal(err)
	}
	noteHelper(t, home, "ann", "stale")
	err = push()
	requireCode(t, err, company.EAuth, "refused the login of your credential helper helper")
	if !strings.Contains(at(err).Hint, "git push --dry-run") || at(err).Class != company.HumanRequired {
		t.Errorf("%#v", at(err))
	}
	if calls := readNote(t, note); strings.Contains(calls, "erase") {
		t.Errorf("the helper was asked to %q", calls)
	}
	b.store.cfg.Logins = nil
	requireCode(t, push(), company.EAuth, "there is no credential for")
	if calls := readNote(t, note); calls != "" {
		t.Errorf("switched off, the helper was asked to %q", calls)
	}
}

// A server that redirects gets no login of the president's sent along.
func TestOwnLoginIsForOneHost(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	thief := remotetest.NewHTTP(t, "", "x")
	_, _ = thief.Repository(t, "acme/app.git", b.checkout)
	server := remotetest.NewHTTP(t, "", canaryToken)
	_, url := server.Repository(t, "acme/app.git", b.checkout)
	server.Redirect(thief.Server.URL)
	noteHelper(t, b.useLogins(t, ""), "ann", canaryToken)
	_, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, "")
	requireCode(t, err, company.EAuth, "wants to log in at")
	if seen := strings.Join(append(thief.Seen(), server.Seen()...), ""); strings.Contains(seen, canaryToken) ||
		len(thief.Seen()) == 0 {
		t.Errorf("%q", seen)
	}
}

// T11, T25: with the president's logins in use, what their configuration and the
// checkout's name as programs does not run, at the remote or beside it.
func TestOwnLoginsRunNoOtherProgram(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	server := remotetest.NewHTTP(t, "", canaryToken)
	_, url := server.Repository(t, "acme/app.git", b.checkout)
	c := gitexectest.NewCanary(t)
	home := b.useLogins(t, "")
	note := noteHelper(t, home, "ann", canaryToken)
	good, err := os.ReadFile(filepath.Join(home, ".gitconfig"))
	if err != nil {
		t.Fatal(err)
	}
	hostile := strings.ReplaceAll(c.Config(), "sshCommand", "sshcommandOfOthers")
	writeFiles(t, home, map[string]string{".gitconfig": hostile + "[credential]\n\thelper =\n" + string(good)})
	next := commitFiles(t, b.checkout, "second",
		map[string]string{"README": "hello again\n", ".gitattributes": "* filter=x diff=x merge=x\n"})
	c.Poison(filepath.Join(b.checkout, ".git"))

	if _, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.mirror.FetchBase(b.ctx, nil, Source{Path: b.checkout}, ""); err != nil {
		t.Fatal(err)
	}
	if err := b.push(nil, Remote{URL: url}, "refs/heads/develop-t1-k3fq", next, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Quarantine(b.ctx, b.mirror, "t1-01.1", next, nil); err != nil {
		t.Error(err)
	}
	if what := c.Ran(); what != "" {
		t.Errorf("it ran %s", what)
	}
	if readNote(t, note) == "" {
		t.Error("the helper was never asked: the test shows nothing")
	}
	// What stays at home knows nothing of the logins.
	near := &remoteEndpoint{s: b.store, protocols: "file", url: "file:///x"}
	for _, call := range []call{{dir: "/x"}, near.newCall("/x")} {
		if got := strings.Join(b.store.command(call).Environ(), "\n"); strings.Contains(got, home) {
			t.Error(got)
		}
	}
}

// What doctor says of the login that a push would use.
func TestDoctorNamesOwnLogin(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	server := remotetest.NewHTTP(t, "ann", canaryToken)
	_, url := server.Repository(t, "acme/app.git", b.checkout)
	gitexectest.Git(t, b.checkout, "remote", "add", "origin", url)
	home := b.useLogins(t, "")
	look := func(online bool) string {
		t.Helper()
		for _, c := range Checks(b.newConfig(), b.checkout, online) {
			if c.Name == "git credential" {
				r := c.Run(b.ctx)
				return r.Found + " | " + r.Fix
			}
		}
		return ""
	}
	if got := look(false); !strings.Contains(
		got, "NOT SET; ~/.netrc has no login for it, and no credential helper is set") {
		t.Error(got)
	}
	// A helper may go to the network: it is asked with --online.
	note := noteHelper(t, home, "ann", canaryToken)
	if got := look(false); !strings.Contains(got, "a push asks your credential helper helper for a login at") ||
		readNote(t, note) != "" {
		t.Error(got)
	}
	if got := look(true); !strings.Contains(got, "SET, of your credential helper helper") ||
		strings.Contains(got, canaryToken) || readNote(t, note) != "get\n" {
		t.Error(got)
	}
	if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte("machine 127.0.0.1 login ann password x\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got := look(false); !strings.Contains(got, "SET, of ~/.netrc") {
		t.Error(got)
	}
}
