package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

// T25: the president's own logins are switched on by the president: in their own file,
// a variable or a flag. A company.yaml cannot, tracked or trusted.
func TestOwnLoginsNeedOwnLayer(t *testing.T) {
	const on = "git: {use_my_logins: true}\n"
	user := configtest.Dir(t)
	values := map[string]string{"XDG_CONFIG_HOME": user, "XDG_STATE_HOME": configtest.Dir(t)}
	env := configtest.Env(values)
	tracked, plain := configtest.Repo(t, map[string]string{"company.yaml": on}), configtest.Office(t, on)
	trusted := configtest.Repo(t, map[string]string{"company.yaml": on})
	review, err := ReviewTrust(t.Context(), LoadOptions{OfficeDir: trusted, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if err := OpenTrust(env).Add(review.Hash, review.File); err != nil {
		t.Fatal(err)
	}
	refused := func(o LoadOptions) {
		t.Helper()
		o.Env = env
		_, err := Load(t.Context(), o)
		var e *company.Error
		if !errors.As(err, &e) || e.Code != company.EConfig ||
			!strings.Contains(e.Message, "git.use_my_logins is not for a company.yaml to switch on") ||
			!strings.Contains(e.Hint, filepath.Join(user, "company", "config.yaml")) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, dir := range []string{tracked, plain, trusted} {
		refused(LoadOptions{OfficeDir: dir})
		refused(LoadOptions{OfficeDir: dir, Flags: map[string]string{"git.use_my_logins": "true"}})
	}
	configtest.WriteFile(t, filepath.Join(user, "company", "config.yaml"), on)
	refused(LoadOptions{OfficeDir: tracked})

	office := configtest.Office(t, "version: 1\n")
	load := func(o LoadOptions) bool {
		t.Helper()
		o.Env = env
		return mustLoad(t, o).Config.Git.UseMyLogins
	}
	// A project's file is not asked.
	if !load(LoadOptions{OfficeDir: office}) || !load(LoadOptions{OfficeDir: office, Project: tracked}) {
		t.Error("the own file does not switch it on")
	}
	// A repository may switch it off for itself.
	off := configtest.Repo(t, map[string]string{"company.yaml": "git: {use_my_logins: false}\n"})
	if load(LoadOptions{OfficeDir: off}) {
		t.Error("false in a company.yaml does not count")
	}
	configtest.WriteFile(t, filepath.Join(user, "company", "config.yaml"), "version: 1\n")
	if load(LoadOptions{OfficeDir: office}) || load(LoadOptions{OfficeDir: office, Project: tracked}) {
		t.Error("it is on by itself")
	}
	if !load(LoadOptions{OfficeDir: office, Flags: map[string]string{"git.use_my_logins": "true"}}) {
		t.Error("the flag does not switch it on")
	}
	// The command that changes a file refuses it as well, and can set the own one.
	change := func(file string) error {
		_, err := ChangeFile(t.Context(), LoadOptions{OfficeDir: office, Env: env},
			Change{File: file, Key: "git.use_my_logins", Value: "true"})
		return err
	}
	if err := change(filepath.Join(office, ConfigName)); company.CodeOf(err) != company.EConfig {
		t.Errorf("config set in a company.yaml: %v", err)
	}
	if err := change(filepath.Join(user, "company", "config.yaml")); err != nil || !load(LoadOptions{OfficeDir: office}) {
		t.Errorf("config set in the own file: %v", err)
	}
	configtest.WriteFile(t, filepath.Join(user, "company", "config.yaml"), "version: 1\n")
	values["COMPANY_GIT_USE_MY_LOGINS"] = "true"
	if !load(LoadOptions{OfficeDir: office}) {
		t.Error("the variable does not switch it on")
	}
}
