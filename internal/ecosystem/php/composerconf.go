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

// ReadSettings reads the settings in COMPOSER_HOME: the repository of the operator, its login
// and a certificate. Further repositories are not served: with two, a private name that a
// stranger registers on the public one would be fetched there.
func (Ecosystem) ReadSettings(_ context.Context, h ecosystem.Host) (up ecosystem.Upstream, err error) {
	home := findHome(h)
	var c struct {
		Repositories json.RawMessage
		Config       struct {
			Cafile string
			composerLogins
		}
	}
	if text, err := h.ReadFile(filepath.Join(home, "config.json")); err == nil && json.Unmarshal(text, &c) != nil {
		h.AddNote("composer's config.json cannot be read: no composer packages are served")
		return up, nil
	}
	h.TrustCA("composer's cafile", c.Config.Cafile)
	h.TrustCA("COMPOSER_CAFILE", h.Env("COMPOSER_CAFILE"))
	address, more := chooseRepository(c.Repositories)
	if address == "" {
		h.AddNote("composer is set to use no repository that can be served: no composer packages are served")
		return up, nil
	}
	if more {
		h.AddNote("composer's further repositories are not served: one that holds all is safe against names that somebody else registers")
	}
	e, err := ecosystem.ParseEndpoint(strings.TrimSuffix(strings.TrimRight(address, "/"), "/packages.json"))
	if err != nil {
		h.AddNote("composer's repository is %v: no composer packages are served", err)
		return up, nil
	}
	logins := []composerLogins{c.Config.composerLogins}
	for _, text := range [][]byte{readAuth(h, home), []byte(h.Env("COMPOSER_AUTH"))} {
		var l composerLogins
		if json.Unmarshal(text, &l) == nil {
			logins = append(logins, l)
		}
	}
	for _, l := range logins { // the later ones win
		e = l.addTo(e)
	}
	return ecosystem.At(e), nil
}

// findHome is composer's folder of settings.
func findHome(h ecosystem.Host) string {
	if home := h.Env("COMPOSER_HOME"); home != "" {
		return home
	}
	config := h.Env("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(h.Home(), ".config")
	}
	for _, dir := range []string{filepath.Join(config, "composer"), filepath.Join(h.Home(), ".composer")} {
		for _, name := range []string{"config.json", "auth.json"} {
			if _, err := h.ReadFile(filepath.Join(dir, name)); err == nil {
				return dir
			}
		}
	}
	return filepath.Join(config, "composer")
}

func readAuth(h ecosystem.Host, home string) []byte {
	text, _ := h.ReadFile(filepath.Join(home, "auth.json")) // there may be none
	return text
}

// composerLogins are logins as composer keeps them, by host.
type composerLogins struct {
	Basic map[string]struct{ Username, Password string } `json:"http-basic"`
	// Bearer are tokens.
	Bearer map[string]string `json:"bearer"`
}

func (l composerLogins) addTo(e ecosystem.Endpoint) ecosystem.Endpoint {
	host := e.HostPort()
	if b, ok := l.Basic[host]; ok {
		return e.WithAuth(ecosystem.BasicAuth(b.Username, b.Password)).ForWholeHost() // as composer does it
	}
	if token := l.Bearer[host]; token != "" {
		return e.WithAuth("Bearer " + token).ForWholeHost()
	}
	return e
}

// chooseRepository is the first repository of composer's kind, or Packagist where it is not
// turned off; empty: there is none. more: others are left out.
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
			off = off || fields[name] != nil // turned off, or replaced
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

// ignoredPlatform are what an image may lack of what packages ask for. It is noted where a project
// names it, and what needs it is red.
const ignoredPlatform = "ext-*"

// fetchedPackages is the home of composer in a container once something was added.
const fetchedPackages = "/work/.fetched/composer"

// ClientEnv gives composer that home. Before, all that a lock file names is in the image.
func (Ecosystem) ClientEnv(_ ecosystem.Upstream, _ string, added bool) map[string]string {
	if !added {
		return nil
	}
	return map[string]string{"COMPOSER_HOME": fetchedPackages, "COMPOSER_IGNORE_PLATFORM_REQ": ignoredPlatform}
}

// SetupCommand writes that home.
func (Ecosystem) SetupCommand(address string) string {
	var parts []string
	files := homeFiles(address)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to := path.Join(fetchedPackages, name)
		parts = append(parts, "mkdir -p "+path.Dir(to)+" && printf '%s' '"+strings.ReplaceAll(files[name], "'", `'\''`)+"' >"+to)
	}
	return strings.Join(parts, " && ")
}

// mirrorPlugin has composer fetch the files of packages from an address. A setting of composer's
// does so for the descriptions of packages alone.
//
//go:embed mirror.php
var mirrorPlugin string

// homeFiles are composer's settings and its plugin, as composer itself installs one.
func homeFiles(address string) map[string]string {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // texts always encode
		}
		return string(b) + "\n"
	}
	type object = map[string]any
	const name = "company/mirror"
	plugin := object{
		"name": name, "version": "1.0.0", "version_normalized": "1.0.0.0", "type": "composer-plugin", "require": object{"composer-plugin-api": "^2.0"},
		"extra": object{"class": "CompanyMirror"}, "autoload": object{"classmap": []string{"mirror.php"}}, "install-path": "../" + name,
	}
	return map[string]string{
		"config.json": text(object{
			"config":       object{"secure-http": false, "allow-plugins": object{name: true}},
			"repositories": []object{{"type": "composer", "url": address}, {"packagist.org": false}},
		}),
		"composer.json":                  "{}\n",
		"vendor/composer/installed.json": text(object{"packages": []object{plugin}, "dev": false, "dev-package-names": []string{}}),
		"vendor/" + name + "/mirror.php": strings.ReplaceAll(mirrorPlugin, "@ADDRESS@", address),
	}
}
