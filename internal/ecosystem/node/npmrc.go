package node

import (
	"context"
	"encoding/base64"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

const defaultRegistry = "https://registry.npmjs.org"

// ReadSettings reads npm's settings as npm does: the environment, the user's
// file, the global file. A project's own .npmrc is not trusted and not read.
func (Ecosystem) ReadSettings(_ context.Context, h ecosystem.Host) (up ecosystem.Upstream, err error) {
	set := map[string]string{}
	read := func(file string) {
		text, _ := h.ReadFile(file) // there may be none
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
			k, v, ok := strings.Cut(line, "=")
			if k = strings.TrimSpace(k); ok {
				if _, had := set[k]; !had {
					set[k] = expandVariables(h, strings.Trim(strings.TrimSpace(v), `"'`))
				}
			}
		}
	}
	env := func(name string) string {
		return ecosystem.FirstEnv(h, "npm_config_"+name, "NPM_CONFIG_"+strings.ToUpper(name))
	}
	if v := env("registry"); v != "" {
		set["registry"] = v
	}
	user := env("userconfig")
	if user == "" {
		user = filepath.Join(h.Home(), ".npmrc")
	}
	read(user)
	global := env("globalconfig")
	if global == "" {
		prefix := env("prefix")
		if prefix == "" {
			prefix = filepath.Join(h.Root(), "usr")
			read(filepath.Join(h.Root(), "usr", "local", "etc", "npmrc"))
			read(filepath.Join(h.Root(), "etc", "npmrc"))
		}
		global = filepath.Join(prefix, "etc", "npmrc")
	}
	read(global)

	add := func(what, scope, address string) {
		e, err := ecosystem.ParseEndpoint(address)
		if err != nil {
			h.AddNote("%s is %v: it is not served", what, err)
			return
		}
		e.Scope = scope
		up.Endpoints = append(up.Endpoints, withSettings(h, e, set))
	}
	address := set["registry"]
	if address == "" {
		address = defaultRegistry
	}
	add("npm's registry", "", address)
	for _, k := range slices.Sorted(maps.Keys(set)) {
		scope, is := strings.CutSuffix(k, ":registry")
		if is && strings.HasPrefix(scope, "@") {
			add("npm's registry of "+scope, scope, set[k])
		}
	}
	if file := set["cafile"]; file != "" {
		h.TrustCA("npm's cafile", file)
	}
	if set["ca"] != "" {
		h.AddNote("npm's setting ca is not followed: name a file with cafile")
	}
	h.TrustCA("NODE_EXTRA_CA_CERTS", h.Env("NODE_EXTRA_CA_CERTS"))
	return up, nil
}

// withSettings adds the proxy and the credentials of an endpoint.
func withSettings(h ecosystem.Host, e ecosystem.Endpoint, set map[string]string) ecosystem.Endpoint {
	e.Proxy = set["https-proxy"]
	if e.Proxy == "" || strings.HasPrefix(e.URL, "http:") {
		if p := set["proxy"]; p != "" && p != "null" && p != "false" {
			e.Proxy = p
		}
	}
	// The credentials of the longest //host/path that the address begins with.
	_, plain, _ := strings.Cut(e.URL, ":")
	plain += "/"
	at := ""
	for k := range set {
		where, field, _ := cutLast(k, ":")
		if strings.HasPrefix(k, "//") && strings.HasPrefix(plain, strings.TrimRight(where, "/")+"/") && len(where) > len(at) &&
			slices.Contains([]string{"_authToken", "_auth", "_password"}, field) {
			at = where
		}
	}
	switch {
	case at == "":
		return ecosystem.WithNetrc(h, e)
	case set[at+":_authToken"] != "":
		return e.WithAuth("Bearer " + set[at+":_authToken"])
	case set[at+":_auth"] != "":
		return e.WithAuth("Basic " + set[at+":_auth"])
	}
	// The old pair of settings: the password is kept in base64.
	password, err := base64.StdEncoding.DecodeString(set[at+":_password"])
	if user := set[at+":username"]; err == nil && user != "" {
		return e.WithAuth(ecosystem.BasicAuth(user, string(password)))
	}
	return e.WithAuth("")
}

var variableRE = lazyregexp.New(`\$\{([A-Za-z0-9_]+)(\?)?\}`)

// expandVariables puts variables in. One that is not set stays as it is written, as npm
// does it.
func expandVariables(h ecosystem.Host, s string) string {
	return variableRE.ReplaceAllStringFunc(s, func(m string) string {
		name := strings.TrimSuffix(m[2:len(m)-1], "?")
		if v := h.Env(name); v != "" || strings.HasSuffix(m, "?}") {
			return v
		}
		return m
	})
}

// ClientEnv makes npm and yarn ask at an address.
func (Ecosystem) ClientEnv(u ecosystem.Upstream, address string, _ bool) map[string]string {
	env := map[string]string{
		"npm_config_registry": address + "/", "npm_config_replace_registry_host": "always",
		"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false",
		"YARN_REGISTRY": address + "/", "YARN_NPM_REGISTRY_SERVER": address, "YARN_UNSAFE_HTTP_WHITELIST": "127.0.0.1",
	}
	for _, e := range u.Endpoints {
		if e.Scope != "" {
			env["npm_config_"+e.Scope+":registry"] = address + "/"
		}
	}
	return env
}
