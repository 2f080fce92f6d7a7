package node

import (
	"context"
	"encoding/base64"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

const defaultRegistry = "https://registry.npmjs.org"

// ReadSettings reads npm's settings in npm's order: the environment, the user's file, the global file. It
// does not read a project's own .npmrc, which is not trusted.
func (Ecosystem) ReadSettings(_ context.Context, host ecosystem.Host) (up ecosystem.Upstream, err error) {
	set := map[string]string{}
	read := func(file string) {
		text, _ := host.ReadFile(file) // a missing file is empty
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
			k, v, ok := strings.Cut(line, "=")
			if k = strings.TrimSpace(k); ok {
				if _, had := set[k]; !had {
					set[k] = expandVariables(host, strings.Trim(strings.TrimSpace(v), `"'`))
				}
			}
		}
	}
	env := func(name string) string {
		return ecosystem.FirstEnv(host, "npm_config_"+name, "NPM_CONFIG_"+strings.ToUpper(name))
	}
	if v := env("registry"); v != "" {
		set["registry"] = v
	}
	user := env("userconfig")
	if user == "" {
		user = filepath.Join(host.Home(), ".npmrc")
	}
	read(user)
	global := env("globalconfig")
	if global == "" {
		prefix := env("prefix")
		if prefix == "" {
			prefix = filepath.Join(host.Root(), "usr")
			read(filepath.Join(host.Root(), "usr", "local", "etc", "npmrc"))
			read(filepath.Join(host.Root(), "etc", "npmrc"))
		}
		global = filepath.Join(prefix, "etc", "npmrc")
	}
	read(global)

	add := func(what, scope, address string) {
		endpoint, err := ecosystem.ParseEndpoint(address)
		if err != nil {
			host.AddNote("%s is %v: it is not served", what, err)
			return
		}
		endpoint.Scope = scope
		up.Endpoints = append(up.Endpoints, withSettings(host, endpoint, set))
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
		host.TrustCA("npm's cafile", file)
	}
	if set["ca"] != "" {
		host.AddNote("npm's setting ca is not followed: name a file with cafile")
	}
	host.TrustCA("NODE_EXTRA_CA_CERTS", host.Env("NODE_EXTRA_CA_CERTS"))
	return up, nil
}

// withSettings adds the proxy and the credentials to an endpoint.
func withSettings(host ecosystem.Host, endpoint ecosystem.Endpoint, set map[string]string) ecosystem.Endpoint {
	endpoint.Proxy = set["https-proxy"]
	if endpoint.Proxy == "" || strings.HasPrefix(endpoint.URL, "http:") {
		if p := set["proxy"]; p != "" && p != "null" && p != "false" {
			endpoint.Proxy = p
		}
	}
	// The credentials with the longest //host/path that is a prefix of the address apply.
	_, plain, _ := strings.Cut(endpoint.URL, ":")
	plain += "/"
	at := ""
	for k := range set {
		where, field, _ := cutLast(k, ":")
		if strings.HasPrefix(k, "//") && strings.HasPrefix(plain, strings.TrimRight(where, "/")+"/") &&
			len(where) > len(at) &&
			slices.Contains([]string{"_authToken", "_auth", "_password"}, field) {
			at = where
		}
	}
	switch {
	case at == "":
		return ecosystem.WithNetrc(host, endpoint)
	case set[at+":_authToken"] != "":
		return endpoint.WithAuth("Bearer " + set[at+":_authToken"])
	case set[at+":_auth"] != "":
		return endpoint.WithAuth("Basic " + set[at+":_auth"])
	}
	// The older settings username and _password, where the password is in base64.
	password, err := base64.StdEncoding.DecodeString(set[at+":_password"])
	if user := set[at+":username"]; err == nil && user != "" {
		return endpoint.WithAuth(ecosystem.BasicAuth(user, string(password)))
	}
	return endpoint.WithAuth("")
}

var variableRE = lazyregexp.New(`\$\{([A-Za-z0-9_]+)(\?)?\}`)

// expandVariables replaces variables by their values. A variable that is not set stays unchanged, as in
// npm.
func expandVariables(host ecosystem.Host, s string) string {
	return variableRE.ReplaceAllStringFunc(s, func(m string) string {
		name := strings.TrimSuffix(m[2:len(m)-1], "?")
		if v := host.Env(name); v != "" || strings.HasSuffix(m, "?}") {
			return v
		}
		return m
	})
}

// ClientEnv returns variables that make npm and yarn use the registry at an address.
func (Ecosystem) ClientEnv(upstream ecosystem.Upstream, address string, _ bool) map[string]string {
	env := map[string]string{
		"npm_config_registry": address + "/", "npm_config_replace_registry_host": "always",
		"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false",
		"YARN_REGISTRY": address + "/", "YARN_NPM_REGISTRY_SERVER": address, "YARN_UNSAFE_HTTP_WHITELIST": "127.0.0.1",
	}
	for _, endpoint := range upstream.Endpoints {
		if endpoint.Scope != "" {
			env["npm_config_"+endpoint.Scope+":registry"] = address + "/"
		}
	}
	return env
}
