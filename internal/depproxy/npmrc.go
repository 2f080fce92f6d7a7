package depproxy

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// readNpmrc reads npm's settings as npm does: the environment, the user's file,
// the global file. A project's own .npmrc is not trusted and not read.
func (r *settingsReader) readNpmrc() {
	set := map[string]string{}
	read := func(file string) {
		text, err := os.ReadFile(file)
		if err != nil || len(text) > 1<<20 {
			return
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
			k, v, ok := strings.Cut(line, "=")
			if k = strings.TrimSpace(k); ok {
				if _, had := set[k]; !had {
					set[k] = r.expandVariables(strings.Trim(strings.TrimSpace(v), `"'`))
				}
			}
		}
	}
	env := func(name string) string {
		return r.firstEnv("npm_config_"+name, "NPM_CONFIG_"+strings.ToUpper(name))
	}
	if v := env("registry"); v != "" {
		set["registry"] = v
	}
	user := env("userconfig")
	if user == "" {
		user = filepath.Join(r.Home, ".npmrc")
	}
	read(user)
	global := env("globalconfig")
	if global == "" {
		prefix := env("prefix")
		if prefix == "" {
			prefix = filepath.Join(r.Root, "usr")
			read(filepath.Join(r.Root, "usr", "local", "etc", "npmrc"))
			read(filepath.Join(r.Root, "etc", "npmrc"))
		}
		global = filepath.Join(prefix, "etc", "npmrc")
	}
	read(global)

	address := set["registry"]
	if address == "" {
		address = npmDefault
	}
	r.upstreams.NPM = r.npmEndpoint("npm's registry", address, set)
	for k, v := range set {
		scope, is := strings.CutSuffix(k, ":registry")
		if is && strings.HasPrefix(scope, "@") {
			if e := r.npmEndpoint("npm's registry of "+scope, v, set); e.URL != "" {
				r.upstreams.NPMScope[scope] = e
			}
		}
	}
	if file := set["cafile"]; file != "" {
		r.addCAFile("npm's cafile", file)
	}
	if set["ca"] != "" {
		r.addNote("npm's setting ca is not followed: name a file with cafile")
	}
}

func (r *settingsReader) npmEndpoint(what, address string, set map[string]string) Endpoint {
	e, err := parseEndpoint(address)
	if err != nil {
		r.addNote("%s is %v: it is not served", what, err)
		return Endpoint{}
	}
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
		where, field, _ := cutLast(k, ':')
		if strings.HasPrefix(k, "//") && strings.HasPrefix(plain, strings.TrimRight(where, "/")+"/") && len(where) > len(at) &&
			slices.Contains([]string{"_authToken", "_auth", "_password"}, field) {
			at = where
		}
	}
	switch {
	case at == "":
		return r.withNetrc(e)
	case set[at+":_authToken"] != "":
		e.auth = "Bearer " + set[at+":_authToken"]
	case set[at+":_auth"] != "":
		e.auth = "Basic " + set[at+":_auth"]
	default:
		e.auth = npmBasic(set[at+":username"], set[at+":_password"])
	}
	return e
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

var npmVariableRE = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)(\?)?\}`)

// expandVariables puts variables in. One that is not set stays as it is written, as npm
// does it.
func (r *settingsReader) expandVariables(s string) string {
	return npmVariableRE.ReplaceAllStringFunc(s, func(m string) string {
		name := strings.TrimSuffix(m[2:len(m)-1], "?")
		if v := r.Env(name); v != "" || strings.HasSuffix(m, "?}") {
			return v
		}
		return m
	})
}

// npmBasic makes a header of the old pair of settings: the password is kept in
// base64.
func npmBasic(user, password string) string {
	plain, err := base64.StdEncoding.DecodeString(password)
	if err != nil || user == "" {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+string(plain)))
}
