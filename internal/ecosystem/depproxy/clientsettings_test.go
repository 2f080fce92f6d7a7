package depproxy

import (
	"company/internal/ecosystem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The settings of all clients, read the way the clients read them.
func TestLoadClientSettings(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	fakeGo := filepath.Join(root, "go")
	write(t, root, map[string]string{
		"go": "#!/bin/sh\necho '{\"GOPROXY\":\"https://u:p@proxy.corp.example/go,https://second.example|direct,off,https://never.example\",\"GOSUMDB\":\"off\",\"GOPRIVATE\":\"corp.example\"}'\n",
		"home/.netrc": "# c\nmacdef x\n machine second.example login no password no\n\nmachine other.example " +
			"login a password b\nmachine second.example\n login me password word\ndefault login d password e\n",
		"home/.npmrc": "; c\nregistry = https://npm.corp.example/repo/\n@corp:registry=https://npm.corp.example/private\n//npm.corp.example/repo/:_authToken=${TOKEN}\n//npm.corp.example/private/:username=u\n//npm.corp.example/private/:_password=cGFzcw==\ncafile=" + root + "/ca.pem\n",
		"home/.config/pip/pip.conf": "[global]\nindex-url = https://pip.corp.example/simple\nextra-index-url =\n  " +
			"https://extra.example\nproxy = proxy.example:3128\n[list]\nindex-url = https://wrong.example\n",
		"home/.cargo/config.toml": "[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\nregistry = " +
			"\"sparse+https://crates.corp.example/index/\"\n[registries.corp]\ntoken = \"tok\"\n",
		"ca.pem": "",
	})
	if err := os.Chmod(fakeGo, 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TOKEN": "sesame", "NODE_EXTRA_CA_CERTS": root + "/absent.pem"}
	up, err := Environment{Getenv: func(k string) string { return env[k] }, HomeDir: home, RootDir: root,
		Programs: map[string]string{"go": fakeGo}}.LoadUpstreams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	proxies := up.Registries[Go]
	if all := proxies.Endpoints; len(all) != 2 || all[0].URL != "https://proxy.corp.example/go" || all[0].NextOnAnyError ||
		header(all[0]) != "Basic dTpw" ||
		all[1].URL != "https://second.example" || !all[1].NextOnAnyError || header(all[1]) != "Basic bWU6d29yZA==" ||
		proxies.Settings["GOSUMDB"] != "off" || proxies.Settings["GONOSUMDB"] != "corp.example" {
		t.Errorf("go: %v", proxies)
	}
	public, scoped := up.Registries[NPM].EndpointOf("@else/x"), up.Registries[NPM].EndpointOf("@corp/x")
	if public.URL != "https://npm.corp.example/repo" || header(public) != "Bearer sesame" ||
		scoped.URL != "https://npm.corp.example/private" || header(scoped) != "Basic dTpwYXNz" {
		t.Errorf("npm: %v", up.Registries[NPM])
	}
	py, crates := up.Registries[PyPI].EndpointOf(""), up.Registries[Crates].EndpointOf("")
	if py.URL != "https://pip.corp.example/simple" || py.Proxy != "http://proxy.example:3128" ||
		crates.URL != "https://crates.corp.example/index" || header(crates) != "tok" {
		t.Errorf("pip, cargo: %v %v", py, crates)
	}
	notes := strings.Join(up.Notes, "\n")
	for _, want := range []string{"extra-index-url", "NODE_EXTRA_CA_CERTS"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not speak of %s:\n%s", want, notes)
		}
	}
	for _, secret := range []string{"sesame", "word", "tok"} {
		if strings.Contains(notes, secret) {
			t.Errorf("the notes say %q", secret)
		}
	}
	if len(up.CAs) != 1 || up.CAs[0] != root+"/ca.pem" {
		t.Errorf("certificates: %q", up.CAs)
	}
}

func header(e ecosystem.Endpoint) string {
	header, _ := e.Auth()
	return header
}

// Without any setting, and with garbage in all of them.
func TestLoadClientSettingsDefaults(t *testing.T) {
	root := t.TempDir()
	none := func(string) string { return "" }
	up, err := Environment{Getenv: none, HomeDir: root, RootDir: root,
		Programs: map[string]string{"go": filepath.Join(root, "absent")}}.LoadUpstreams(t.Context())
	if err != nil || up.Serves(Go) || up.Registries[NPM].EndpointOf("").URL != "https://registry.npmjs.org" ||
		up.Registries[PyPI].EndpointOf("").URL != "https://pypi.org/simple" ||
		up.Registries[Crates].EndpointOf("").URL != "https://index.crates.io" || len(up.Notes) == 0 {
		t.Errorf("%+v %v", up, err)
	}
	write(t, root,
		map[string]string{".npmrc": "registry=javascript:alert(1)\n=\n@:registry=x\n",
			".pip/pip.conf": "[global\nindex-url=ftp://x\n", ".cargo/config.toml": "[[[", ".config/pip/pip.conf": "\x00"})
	up, err = Environment{Getenv: none, HomeDir: root, RootDir: root,
		Programs: map[string]string{"go": "false"}}.LoadUpstreams(t.Context())
	if err != nil || up.Serves(NPM) || up.Serves(Crates) || up.Serves(Go) || len(up.Notes) < 3 {
		t.Errorf("%+v %v", up, err)
	}
}
