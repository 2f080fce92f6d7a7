package php

import (
	"bytes"
	"context"
	_ "embed" // composer's plugin
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

const defaultRepository = "https://repo.packagist.org"

// ReadSettings reads the settings in COMPOSER_HOME: the operator's repository, its login and a certificate.
// It ignores further repositories. With two of them, a stranger could register a private package's name in
// the public one, and composer would fetch it from there.
func (Ecosystem) ReadSettings(_ context.Context, host ecosystem.Host) (up ecosystem.Upstream, err error) {
	home := findHome(host)
	var c struct {
		Repositories json.RawMessage
		Config       struct {
			Cafile string
			composerLogins
		}
	}
	if text, err := host.ReadFile(filepath.Join(home, "config.json")); err == nil && json.Unmarshal(text, &c) != nil {
		host.AddNote("composer's config.json cannot be read: no composer packages are served")
		return up, nil
	}
	host.TrustCA("composer's cafile", c.Config.Cafile)
	host.TrustCA("COMPOSER_CAFILE", host.Env("COMPOSER_CAFILE"))
	address, more := chooseRepository(c.Repositories)
	if address == "" {
		host.AddNote("composer is set to use no repository that can be served: no composer packages are served")
		return up, nil
	}
	if more {
		host.AddNote("composer's additional repositories are not served: a single one is safe against names that " +
			"somebody " +
			"else registers")
	}
	endpoint, err := ecosystem.ParseEndpoint(strings.TrimSuffix(strings.TrimRight(address, "/"), "/packages.json"))
	if err != nil {
		host.AddNote("composer's repository is %v: no composer packages are served", err)
		return up, nil
	}
	logins := []composerLogins{c.Config.composerLogins}
	for _, text := range [][]byte{readAuth(host, home), []byte(host.Env("COMPOSER_AUTH"))} {
		var l composerLogins
		if json.Unmarshal(text, &l) == nil {
			logins = append(logins, l)
		}
	}
	for _, l := range logins { // later ones win
		endpoint = l.addTo(endpoint)
	}
	return ecosystem.At(endpoint), nil
}

// findHome returns composer's folder of settings.
func findHome(host ecosystem.Host) string {
	if home := host.Env("COMPOSER_HOME"); home != "" {
		return home
	}
	config := host.Env("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(host.Home(), ".config")
	}
	for _, dir := range []string{filepath.Join(config, "composer"), filepath.Join(host.Home(), ".composer")} {
		for _, name := range []string{"config.json", "auth.json"} {
			if _, err := host.ReadFile(filepath.Join(dir, name)); err == nil {
				return dir
			}
		}
	}
	return filepath.Join(config, "composer")
}

func readAuth(h ecosystem.Host, home string) []byte {
	text, _ := h.ReadFile(filepath.Join(home, "auth.json")) // a missing file is empty
	return text
}

// composerLogins holds logins by host, in composer's format.
type composerLogins struct {
	Basic map[string]struct{ Username, Password string } `json:"http-basic"`
	// Bearer holds tokens.
	Bearer map[string]string `json:"bearer"`
}

func (l composerLogins) addTo(endpoint ecosystem.Endpoint) ecosystem.Endpoint {
	host := endpoint.HostPort()
	if b, ok := l.Basic[host]; ok {
		return endpoint.WithAuth(ecosystem.BasicAuth(b.Username, b.Password)).ForWholeHost() // composer does the same
	}
	if token := l.Bearer[host]; token != "" {
		return endpoint.WithAuth("Bearer " + token).ForWholeHost()
	}
	return endpoint
}

// chooseRepository returns the first repository of the type composer, or Packagist unless it is disabled.
// address is empty if there is none. more means that other repositories were ignored.
func chooseRepository(raw json.RawMessage) (address string, more bool) {
	var list []json.RawMessage
	named := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &list) != nil && json.Unmarshal(raw, &named) == nil {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			one, _ := json.Marshal(map[string]json.RawMessage{name: named[name]})
			list = append(list, one)
		}
	}
	off := false
	for _, one := range list {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(one, &fields)
		for _, name := range []string{"packagist", "packagist.org"} {
			off = off || fields[name] != nil // disabled or replaced
		}
		var r struct{ Type, URL string }
		for _, text := range append(slices.Collect(maps.Values(fields)), one) {
			if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && r.URL == "" {
				_ = json.Unmarshal(text, &r)
			}
		}
		switch {
		case r.Type != "composer" || r.URL == "":
			more = more || r.Type != ""
		case address != "":
			more = true
		default:
			address = r.URL
		}
	}
	switch {
	case address != "":
		return address, more || !off
	case off:
		return "", more
	}
	return defaultRepository, more
}

// ignoredPlatform matches the platform requirements that an image may lack. A missing extension is noted if
// a project requires it, and tests that need it fail.
const ignoredPlatform = "ext-*"

// fetchedPackages is COMPOSER_HOME in a container once a dependency was added.
const fetchedPackages = "/work/.fetched/composer"

// ClientEnv sets COMPOSER_HOME to fetchedPackages once a dependency was added. Until then the image has all
// packages in the lock files, and the result is nil.
func (Ecosystem) ClientEnv(_ ecosystem.Upstream, _ string, added bool) map[string]string {
	if !added {
		return nil
	}
	return map[string]string{"COMPOSER_HOME": fetchedPackages, "COMPOSER_IGNORE_PLATFORM_REQ": ignoredPlatform}
}

// SetupCommand returns the shell command that writes composer's settings into fetchedPackages.
func (Ecosystem) SetupCommand(address string) string {
	var parts []string
	files := homeFiles(address)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to := path.Join(fetchedPackages, name)
		parts = append(parts, "mkdir -p "+path.Dir(to)+" && printf '%s' '"+
			strings.ReplaceAll(files[name], "'", `'\''`)+"' >"+to)
	}
	return strings.Join(parts, " && ")
}

// mirrorPlugin makes composer fetch package files from an address. Composer has a setting for this, but
// only for package descriptions.
//
//go:embed mirror.php
var mirrorPlugin string

// homeFiles returns composer's settings and the plugin, in the form in which composer itself installs one.
func homeFiles(address string) map[string]string {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // cannot fail for strings
		}
		return string(b) + "\n"
	}
	type object = map[string]any
	const name = "company/mirror"
	plugin := object{
		"name": name, "version": "1.0.0", "version_normalized": "1.0.0.0", "type": "composer-plugin",
		"require": object{"composer-plugin-api": "^2.0"},
		"extra":   object{"class": "CompanyMirror"}, "autoload": object{"classmap": []string{"mirror.php"}},
		"install-path": "../" + name,
	}
	return map[string]string{
		"config.json": text(object{
			"config":       object{"secure-http": false, "allow-plugins": object{name: true}},
			"repositories": []object{{"type": "composer", "url": address}, {"packagist.org": false}},
		}),
		"composer.json": "{}\n",
		"vendor/composer/installed.json": text(
			object{"packages": []object{plugin}, "dev": false, "dev-package-names": []string{}}),
		"vendor/" + name + "/mirror.php": strings.ReplaceAll(mirrorPlugin, "@ADDRESS@", address),
	}
}
