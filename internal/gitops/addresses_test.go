package gitops

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/gitlogin"
	"company/internal/lib/safedir/foldertest"
)

// A push goes where git push would take it: by pushurl, pushInsteadOf, remote.pushDefault, the branch's own pushRemote,
// and several addresses. A text that is not an address of a repository is a ban.
func TestPushTarget(t *testing.T) {
	t.Parallel()
	const (
		branch  = "develop-t1-k3fq"
		pushurl = "remote.origin.pushurl"
		instead = "url.<base>.pushInsteadOf"
	)
	dir := t.TempDir()
	origin, fork, third := filepath.Join(dir, "origin.git"), filepath.Join(dir, "fork.git"), filepath.Join(dir, "third.git")
	for _, repo := range []string{origin, fork, third} {
		gitexectest.Git(t, dir, "init", "-q", "--bare", repo)
	}
	const web = "https://github.com/acme/app.git"
	for name, test := range map[string]struct {
		config  []string // key, value, …
		url     string   // of the remote; origin if empty
		want    []string
		setting string
	}{
		"plain":                  {nil, "", []string{origin}, ""},
		"no_push":                {[]string{pushurl, "no_push"}, "", nil, pushurl},
		"DISABLED":               {[]string{pushurl, "DISABLED"}, "", nil, pushurl},
		"words":                  {[]string{pushurl, "do not push!"}, "", nil, pushurl},
		"an empty text":          {[]string{pushurl, ""}, "", nil, pushurl},
		"/dev/null":              {[]string{pushurl, "/dev/null"}, "", nil, pushurl},
		"an option":              {[]string{pushurl, "--no-push"}, "", nil, pushurl},
		"the checkout itself":    {[]string{"remote.pushDefault", "."}, "", nil, "remote.pushDefault"},
		"a folder":               {[]string{pushurl, dir}, "", nil, pushurl},
		"a file URL of nothing":  {[]string{pushurl, "file:///nowhere"}, "", nil, pushurl},
		"a scheme of nothing":    {[]string{pushurl, "no-push://x"}, "", nil, pushurl},
		"a helper":               {[]string{pushurl, "ext::sh -c id"}, "", nil, pushurl},
		"a host that never is":   {[]string{pushurl, "https://no-push.invalid/x"}, "", nil, pushurl},
		"a fork":                 {[]string{pushurl, fork}, "", []string{fork}, pushurl},
		"a relative path":        {[]string{pushurl, "../fork.git"}, "", []string{fork}, pushurl},
		"an https address":       {[]string{pushurl, "https://h/x.git"}, "", []string{"https://h/x.git"}, pushurl},
		"an ssh address":         {[]string{pushurl, "git@h:x.git"}, "", []string{"git@h:x.git"}, pushurl},
		"the same":               {[]string{pushurl, origin}, "", []string{origin}, ""},
		"two":                    {[]string{pushurl, fork, pushurl, third}, "", []string{fork, third}, pushurl},
		"a ban and a fork":       {[]string{pushurl, "no_push", pushurl, fork}, "", []string{fork}, pushurl},
		"an emptied list":        {[]string{pushurl, "no_push", pushurl, "", pushurl, fork}, "", []string{fork}, pushurl},
		"two urls":               {[]string{"remote.origin.url", fork}, "", []string{origin, fork}, "remote.origin.url"},
		"pushInsteadOf":          {[]string{"url." + fork + ".pushInsteadOf", origin}, "", []string{fork}, instead},
		"a ban by pushInsteadOf": {[]string{"url.no_push.pushInsteadOf", "https://"}, web, nil, instead},
		"pushurl before it": {
			[]string{"url.no_push.pushInsteadOf", fork, pushurl, fork},
			"", []string{fork}, pushurl,
		},
		"insteadOf of a pushurl": {
			[]string{"url." + dir + "/.insteadOf", "here:", pushurl, "here:fork.git"},
			"", []string{fork}, pushurl,
		},
		"insteadOf, once": {
			[]string{"url." + dir + "/.insteadOf", dir[:2]},
			dir[:2] + "fork.git", []string{fork}, "",
		},
		"ssh for pushes": {
			[]string{"url.git@github.com:.pushInsteadOf", "https://github.com/"},
			web, []string{"git@github.com:acme/app.git"}, instead,
		},
		"pushDefault": {
			[]string{"remote.fork.url", fork, "remote.pushDefault", "fork"},
			"", []string{fork}, "remote.pushDefault",
		},
		"pushDefault is none":     {[]string{"remote.pushDefault", "no_push"}, "", nil, "remote.pushDefault"},
		"pushDefault, an address": {[]string{"remote.pushDefault", fork}, "", []string{fork}, "remote.pushDefault"},
		"pushDefault, the remote": {[]string{"remote.pushDefault", "origin"}, "", []string{origin}, ""},
		"pushDefault and its ban": {
			[]string{"remote.fork.url", fork, "remote.fork.pushurl", "no_push", "remote.pushDefault", "fork"},
			"", nil, "remote.fork.pushurl",
		},
		"pushRemote of the branch": {
			[]string{"remote.pushDefault", "no_push", "branch." + branch + ".pushRemote", fork},
			"", []string{fork}, "branch." + branch + ".pushRemote",
		},
		"pushRemote of another": {[]string{"branch.main.pushRemote", "no_push"}, "", []string{origin}, ""},
		"push.default": {
			[]string{"push.default", "nothing", "remote.origin.push", "refs/heads/x"},
			"", []string{origin}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			checkout := filepath.Join(dir, strings.NewReplacer(" ", "-", "/", "-").Replace("c "+name))
			if err := os.Rename(b.checkout, checkout); err != nil { // beside the others, for relative paths
				t.Fatal(err)
			}
			url := test.url
			if url == "" {
				url = origin
			}
			gitexectest.Git(t, checkout, "config", "remote.origin.url", url)
			for i := 0; i < len(test.config); i += 2 {
				gitexectest.Git(t, checkout, "config", "--add", test.config[i], test.config[i+1])
			}
			got, err := b.mirror.PushTarget(b.ctx, checkout, branch)
			if err != nil || !slices.Equal(got.URLs, test.want) || got.Setting != test.setting ||
				got.Forbidden() != (test.want == nil) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	b := setup(t, nil)
	if got, err := b.mirror.PushTarget(b.ctx, b.checkout, branch); err != nil || got.Forbidden() || got.URLs != nil {
		t.Errorf("without a remote: %+v, %v", got, err)
	}
}

// Settings count wherever the president's git reads them: in an included file, by a condition, of a linked work tree,
// of the user and of the system.
func TestAddressesOfEveryScope(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	gitexectest.Git(t, b.checkout, "config", "remote.origin.url", "https://git.example.com/app.git")
	home, more := t.TempDir(), filepath.Join(t.TempDir(), "more")
	target := func(path string) (PushTarget, string) {
		t.Helper()
		got, err := b.mirror.PushTarget(b.ctx, path, "develop-t1-k3fq")
		if err != nil {
			t.Fatal(err)
		}
		url, err := b.mirror.RemoteURL(b.ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		return got, url
	}
	ban := "[remote \"origin\"]\n\tpushurl = no_push\n"
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(more, ban)
	for _, key := range []string{"include.path", "includeIf.gitdir:" + b.checkout + "/.path", "includeIf.onbranch:main.path"} {
		gitexectest.Git(t, b.checkout, "config", key, more)
		if got, _ := target(b.checkout); !got.Forbidden() {
			t.Errorf("%s: %+v", key, got)
		}
		gitexectest.Git(t, b.checkout, "config", "--unset", key)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	gitexectest.Git(t, b.checkout, "worktree", "add", "-q", linked)
	gitexectest.Git(t, b.checkout, "config", "extensions.worktreeConfig", "true")
	gitexectest.Git(t, linked, "config", "--worktree", "remote.origin.pushurl", "no_push")
	if got, _ := target(linked); !got.Forbidden() {
		t.Errorf("a linked work tree: %+v", got)
	}
	if got, _ := target(b.checkout); got.Forbidden() {
		t.Errorf("another work tree's: %+v", got)
	}

	write(filepath.Join(home, ".gitconfig"), "[url \"no_push:\"]\n\tpushInsteadOf = https://git.example.com/\n"+
		"[url \"https://me:secret@mirror.example.com/\"]\n\tinsteadOf = https://git.example.com/\n")
	if got, url := target(b.checkout); got.Forbidden() || url != "https://git.example.com/app.git" {
		t.Errorf("the user's file without leave: %+v, %s", got, url)
	}
	b.store.cfg.Personal = gitlogin.New(func(name string) (string, bool) {
		return map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}[name], true
	})
	got, url := target(b.checkout)
	if got.Setting != "url.<base>.pushInsteadOf" || url != "https://mirror.example.com/app.git" {
		t.Errorf("%+v, %s", got, url) // where it is, and no login
	}
	info, err := b.mirror.FetchBase(b.ctx, nil, Source{Path: b.checkout}, "")
	if err != nil || info.RemoteURL != url {
		t.Errorf("%+v, %v", info, err)
	}
	write(filepath.Join(home, ".gitconfig"), "[remote \"origin\"\n")
	_, err = b.mirror.RemoteURL(b.ctx, b.checkout)
	requireCode(t, err, company.EGit, "cannot read the git configuration")
}

// The first url is fetched from, as by git.
func TestFirstURLIsFetched(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	gitexectest.Git(t, b.checkout, "config", "remote.origin.url", "https://one.example.com/x")
	gitexectest.Git(t, b.checkout, "config", "--add", "remote.origin.url", "https://two.example.com/x")
	if url, err := b.mirror.RemoteURL(b.ctx, b.checkout); err != nil || url != "https://one.example.com/x" {
		t.Errorf("%s, %v", url, err)
	}
}

// An address that a setting rewrites to one that cannot be used is refused with the name of the setting, wherever it is
// from. One that the user wrote so is not.
func TestRewriteToUnusableAddressIsNamed(t *testing.T) {
	t.Parallel()
	const fix = "git config --show-origin --get-regexp insteadof"
	home := t.TempDir()
	personal := gitlogin.New(func(name string) (string, bool) {
		return map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}[name], true
	})
	checkout := newCheckout(t, map[string]string{"a": "a\n"})
	gitexectest.Git(t, checkout, "remote", "add", "origin", "https://git.example.com/app.git")
	cfg := Config{Root: filepath.Join(t.TempDir(), "git"), Personal: personal}
	ask := func() error {
		_, err := LastTaskNumber(t.Context(), cfg, checkout, "")
		return err
	}
	check := func(err error, key string) {
		t.Helper()
		requireCode(t, err, company.EInvalid,
			key+" of your git configuration rewrites https://git.example.com/app.git to it")
		var fault *company.Error
		if !errors.As(err, &fault) || !strings.Contains(fault.Hint, fix) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v; %s", err, fault.Hint)
		}
	}
	for _, base := range []string{"persistent-https://git.example.com/", "ext::sh -c id ", "codecommit::eu://"} {
		key := "url." + base + ".insteadOf"
		gitexectest.Git(t, checkout, "config", key, "https://git.example.com/")
		check(ask(), key)
		gitexectest.Git(t, checkout, "config", "--unset", key)
	}
	writeFiles(t, home, map[string]string{
		".gitconfig": "[url \"git://me:secret@git.example.com/\"]\n\tinsteadOf = https://git.example.com/\n"})
	check(ask(), "url.git://[MASKED:GENERIC_SECRET]@git.example.com/.insteadOf")
	at := mustParse(t, "https://git.example.com/app.git")
	_, err := OpenClone(t.Context(), cfg, foldertest.Open(t, t.TempDir()), at, "")
	check(err, "url.git://[MASKED:GENERIC_SECRET]@git.example.com/.insteadOf")
	gitexectest.Git(t, checkout, "remote", "set-url", "origin", "git://git.example.org/app.git")
	if err := ask(); company.CodeOf(err) != company.EInvalid || strings.Contains(err.Error(), "insteadOf") {
		t.Error(err)
	}
}
