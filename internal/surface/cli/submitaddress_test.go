package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/remotetest"
	"company/internal/office/config/configtest"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
	"company/test/heldoffice"
)

// A repository is named by its address: it is cloned into the office once, is fetched for
// each task, and is listed with its remote. What can never be submitted clones nothing
// (SUB-4).
func TestSubmitToAddress(t *testing.T) {
	o := heldoffice.Open(t)
	origin := configtest.Repo(t, nil)
	o.Serve()
	run := func(address string, args ...string) heldoffice.Result {
		t.Helper()
		var out, errs bytes.Buffer
		env := command.NewEnvironment(
			terminalio.Console{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: o.LookupEnv})
		code := execute(t.Context(), env, append(args, "--office", o.Paths.Root, "--repo", address))
		return heldoffice.Result{Code: code, Out: out.String(), Err: errs.String()}
	}
	clones := filepath.Join(o.Paths.State, "projects")
	address := "file://" + origin
	requireRefusal(t, run(address, "submit", "--detach", " "), company.EUsage, "the instruction is empty")
	requireRefusal(t, run("https://ann:pw@example.com/a/b", "submit", "--detach", "add c"), company.EUsage,
		"has a login")
	requireRefusal(t, run(address, "submit", "--project", o.Repo, "--detach", "add c"), company.EUsage,
		"--project and --repo cannot be used together")
	requireRefusal(t, run(address, "status"), company.EUsage, "only company submit takes an address with --repo")
	requireRefusal(t, run(address+"-that-is-not-there", "submit", "--detach", "add c"), company.ENotFound,
		"cannot open")
	if found, err := filepath.Glob(clones + "/*/*"); err != nil || len(found) != 0 {
		t.Fatalf("%v %v", found, err)
	}
	for _, id := range []company.TaskID{"t1", "t2"} {
		if r := run(address, "submit", "--detach", "add c"); r.Code != 0 {
			t.Fatalf("%+v", r)
		}
		p := o.Task(id).Project
		if p.Remote != address || !strings.HasPrefix(p.Path, clones+"/") || filepath.Base(p.Path) != filepath.Base(origin) {
			t.Errorf("%+v", p)
		}
		if got, want := configtest.Git(t, p.Path, "rev-parse", "main"),
			configtest.Git(t, origin, "rev-parse", "main"); got != want {
			t.Errorf("the clone is at %s, want %s", got, want)
		}
		configtest.WriteFile(t, filepath.Join(origin, "more"), string(id))
		configtest.Git(t, origin, "add", "-A")
		configtest.Git(t, origin, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "more")
	}
	if o.Task("t1").Project != o.Task("t2").Project {
		t.Errorf("%+v %+v", o.Task("t1").Project, o.Task("t2").Project)
	}
	for _, args := range [][]string{{"project", "list"}, {"project", "list", "-o", "json"}, {"list", "-o", "json"}} {
		if r := o.Run(t.Context(), execute, args...); r.Code != 0 || !strings.Contains(r.Out, address) {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if r := run(address, "submit", "--base", "nowhere", "--detach", "add c"); r.Code != 1 ||
		!strings.Contains(r.Err, `no branch "nowhere"`) {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(o.Task("t1").Project.Path, ".company")); !os.IsNotExist(err) {
		t.Error("an office was made in the clone")
	}
}

// With git.use_my_logins a repository behind a password is submitted to by its address,
// with a login of the president's own git; the address is kept without one.
func TestSubmitToAddressWithOwnLogin(t *testing.T) {
	o := heldoffice.Open(t)
	origin := configtest.Repo(t, nil)
	server := remotetest.NewHTTPS(t, "ann", "canary-0123456789")
	_, address := server.Repository(t, "acme/app.git", origin)
	home, _ := o.LookupEnv("HOME")
	configtest.WriteFile(t, filepath.Join(home, ".gitconfig"),
		"[http]\n\tsslCAInfo = "+server.CA+"\n[credential]\n\thelper = store\n")
	configtest.WriteFile(t, filepath.Join(home, ".git-credentials"),
		strings.Replace(address, "://", "://ann:canary-0123456789@", 1)+"\n")
	o.Serve()
	submit := func() heldoffice.Result {
		var out, errs bytes.Buffer
		env := command.NewEnvironment(
			terminalio.Console{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: o.LookupEnv})
		code := execute(t.Context(), env,
			[]string{"submit", "--detach", "add c", "--office", o.Paths.Root, "--repo", address})
		return heldoffice.Result{Code: code, Out: out.String(), Err: errs.String()}
	}
	if r := submit(); r.Code == 0 || strings.Contains(r.Err, "canary") {
		t.Fatalf("without the key: %+v", r)
	}
	o.Setenv("COMPANY_GIT_USE_MY_LOGINS", "true")
	for _, id := range []company.TaskID{"t1", "t2"} {
		if r := submit(); r.Code != 0 {
			t.Fatalf("%+v", r)
		}
		p := o.Task(id).Project
		if p.Remote != address || p != o.Task("t1").Project {
			t.Errorf("%+v", p)
		}
		if got, want := configtest.Git(t, p.Path, "rev-parse", "main"),
			configtest.Git(t, origin, "rev-parse", "main"); got != want {
			t.Errorf("the clone is at %s, want %s", got, want)
		}
	}
}
