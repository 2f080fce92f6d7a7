package config

import (
	"path/filepath"
	"strings"
	"testing"

	"company/internal/office/config/configtest"
)

// An address is one that Docker's client takes; a slip is told before anything starts.
func TestDockerHost(t *testing.T) {
	for _, good := range []string{"", "unix:///var/run/docker.sock", "unix:///run/user/1000/docker.sock",
		"tcp://127.0.0.1:2376", "tcp://[::1]:2375", "tcp://build.example.com:2376"} {
		if got := mustLoad(t, LoadOptions{Flags: map[string]string{"container.docker_host": good}}).
			Config.Container.DockerHost; got != good {
			t.Errorf("%q became %q", good, got)
		}
	}
	for _, bad := range []string{"/var/run/docker.sock", "unix://docker.sock", "unix:///a/../b", "tcp://host",
		"tcp://host:0", "tcp://host:99999", "tcp://me@host:1", "tcp://host:1/x", "ssh://host", "nonsense"} {
		_, err := Load(t.Context(), LoadOptions{Flags: map[string]string{"container.docker_host": bad}})
		if err == nil || !strings.Contains(err.Error(), "is not the address of a Docker daemon") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A repository does not choose the daemon of this host, whether its file is trusted or
// not; a file that git does not track may.
func TestRepositoryChoosesNoDaemon(t *testing.T) {
	const text = "version: 1\ncontainer: {docker_host: 'tcp://evil.example:2375', deps: off}\n"
	repo := configtest.Repo(t, map[string]string{ConfigName: text})
	home := configtest.Dir(t)
	env := configtest.Env(map[string]string{"HOME": home})
	refuse := func(o LoadOptions) {
		t.Helper()
		_, err := Load(t.Context(), o)
		if err == nil || !strings.Contains(
			err.Error(), "company.yaml:2:26: container.docker_host may not be set in a file that git tracks") ||
			len(Problems(err)) != 1 || !strings.Contains(Problems(err)[0].Fix, "--user container.docker_host") {
			t.Errorf("%v", err)
		}
	}
	refuse(LoadOptions{OfficeDir: repo, Env: env})
	refuse(LoadOptions{OfficeDir: configtest.Dir(t), Project: repo, Env: env})
	review, err := ReviewTrust(t.Context(), LoadOptions{OfficeDir: repo, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if err := OpenTrust(env).Add(review.Hash, review.File); err != nil {
		t.Fatal(err)
	}
	refuse(LoadOptions{OfficeDir: repo, Env: env})
	tracked := configtest.Repo(t, map[string]string{ConfigName: "version: 1\n"})
	if _, err := ChangeFile(t.Context(), LoadOptions{OfficeDir: tracked, Env: env},
		Change{File: filepath.Join(tracked, ConfigName), Key: "container.docker_host",
			Value: "tcp://127.0.0.1:2375"}); err == nil ||
		!strings.Contains(err.Error(), "may not be set in a file that git tracks") {
		t.Errorf("a change of a tracked file: %v", err)
	}
	own := configtest.Office(t, text)
	if got := mustLoad(t, LoadOptions{OfficeDir: own, Env: env}).
		Config.Container.DockerHost; got != "tcp://evil.example:2375" {
		t.Errorf("a person's own file: %q", got)
	}
}

// How much is logged is not the repository's to say: it could hide what it did.
func TestRepositorySetsNoLogLevel(t *testing.T) {
	repo := configtest.Repo(t, map[string]string{ConfigName: "version: 1\nlog: {level: error}\n"})
	_, err := Load(t.Context(), LoadOptions{OfficeDir: repo})
	if err == nil || !strings.Contains(err.Error(), "log.level needs your trust") {
		t.Errorf("%v", err)
	}
	loaded := mustLoad(t, LoadOptions{Env: configtest.Env(map[string]string{"COMPANY_LOG_LEVEL": "debug"})})
	if loaded.Config.Log.Level != "debug" || loaded.Origin["log.level"] != "COMPANY_LOG_LEVEL" {
		t.Errorf("%q from %s", loaded.Config.Log.Level, loaded.Origin["log.level"])
	}
}
