package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/company/glob"
	"company/internal/lib/lazyregexp"
)

var (
	programRE = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$`)
	packageRE = lazyregexp.New(`^(@[A-Za-z0-9~][A-Za-z0-9._~-]{0,127}/)?[A-Za-z0-9~][A-Za-z0-9._~-]{0,127}$`)
	envNameRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	imageRE   = lazyregexp.New(`^[a-z0-9]+([._:/-]+[a-z0-9]+)*@sha256:[0-9a-f]{64}$`)
	branchRE  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$`)
	remoteRE  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)
	authorRE  = lazyregexp.New(`^[^<>\n]+ <[^<>\s]+@[^<>\s]+>$`)
)

// describeAllowed describes the allowed values of a text key.
func describeAllowed(tag reflect.StructTag) string {
	if words := allowedWords(tag); words != nil {
		return strings.Join(words, ", ")
	}
	if a := textRules[tag.Get("check")].allowed; a != "" {
		return a
	}
	return "a text"
}

// describeForm describes the values of a text key in a few words, for docs/config.md.
func describeForm(tag reflect.StructTag) string {
	if form := textRules[tag.Get("check")].form; form != "" {
		return form
	}
	return describeAllowed(tag)
}

// packageRegistries are the registries that deps.without may name. Debian's archives are missing because no image can
// be built without them.
var packageRegistries = []string{"go", "npm", "pypi", "crates", "packagist"}

// Services returns the values of gates.services: auto, and the names of package service.
func Services() []string {
	return []string{Auto, "postgres", "redis", "mysql", "rabbitmq", "memcached", "mosquitto"}
}

// ServiceNames returns gates.services without auto if container.image names an image: such an image is used as it is,
// so services of the CI cannot be added.
func (c Config) ServiceNames() []string {
	if c.Container.Image == Auto {
		return c.Gates.Services
	}
	return slices.DeleteFunc(slices.Clone(c.Gates.Services), func(name string) bool { return name == Auto })
}

// textRule is a check for a text, selected by the tag of its key.
type textRule struct {
	form    string // noun for docs, without plural s; empty if allowed is a list of values
	allowed string
	wrong   string // the message for an invalid text
	good    func(string) bool
	check   func(string) error // used instead of good if the message depends on the text
}

// textRules are the checks by name. A check also applies to an empty text.
var textRules map[string]textRule

func init() { // avoids an initialization cycle
	orEmpty := func(good func(string) bool) func(string) bool {
		return func(s string) bool { return s == "" || good(s) }
	}
	textRules = map[string]textRule{
		"http_url": {form: "URL",
			allowed: "an address such as https://api.example.com/v1, without user or password", check: checkURL},
		"docker_host": {form: "unix:// or tcp:// address", allowed: "an address such as unix:///run/user/1000/docker.sock or tcp://127.0.0.1:2376",
			wrong: "is not the address of a Docker daemon", good: orEmpty(isDockerHost)},
		"env_name": {form: "variable", allowed: "the name of an environment variable, such as OPENAI_API_KEY (never the key itself)",
			wrong: "is not the name of a variable", good: orEmpty(envNameRE.MatchString)},
		"image": {form: "auto, name@sha256:digest", allowed: "auto, or an image by digest: name@sha256: and 64 hexadecimal digits",
			wrong: "is not pinned by digest", good: func(s string) bool { return s == Auto || imageRE.MatchString(s) }},
		"repo_file": {form: "path", allowed: "a path from the root of the repository, such as Dockerfile or " +
			".devcontainer/devcontainer.json", wrong: "is not a path in a repository", good: orEmpty(isRepositoryPath)},
		"listen": {form: "address:port", allowed: "an address and a port, such as 127.0.0.1:8378", wrong: "is not an address and a port",
			good: orEmpty(func(s string) bool {
				a, err := netip.ParseAddrPort(s)
				return err == nil && a.Port() != 0
			})},
		"listen_any": {form: "address:port", allowed: "an address and a port, such as 127.0.0.1:7777, or 127.0.0.1:0 for a free port",
			wrong: "is not an address and a port", good: orEmpty(func(s string) bool {
				_, err := netip.ParseAddrPort(s)
				return err == nil
			})},
		"command": {form: "command", allowed: "a command of one line", wrong: "has an empty command",
			good: func(s string) bool { return strings.TrimSpace(s) != "" }},
		"program_kind": {form: strings.Join(slices.Sorted(maps.Keys(programs)), ", "), allowed: listPrograms(),
			wrong: "is not a known program",
			good:  orEmpty(func(s string) bool { return programs[s] != nil })},
		"argument": {form: "argument", allowed: "an argument of one line", wrong: "is not an argument",
			good: func(s string) bool { return !strings.ContainsAny(s, "\x00\n") }},
		"program": {form: "program", allowed: "the name of a program, such as go or npm: no path, no arguments",
			wrong: "is not the name of a program", good: programRE.MatchString},
		"docker_call": {allowed: strings.Join(dockerCalls, ", "), wrong: "is not a Docker command of workers' containers",
			good: func(s string) bool { return slices.Contains(dockerCalls, s) }},
		"dir": {form: "absolute path", allowed: "the absolute path of a folder", wrong: "is not the path of a folder",
			good: orEmpty(filepath.IsAbs)},
		"service": {allowed: strings.Join(Services(), ", "), wrong: "is not a service that can be started",
			good: func(s string) bool { return slices.Contains(Services(), s) }},
		"notify_way": {allowed: strings.Join(notifyWays, ", "), wrong: "is not a way to tell you",
			good: func(s string) bool { return slices.Contains(notifyWays, s) }},
		"package_registry": {allowed: strings.Join(packageRegistries, ", "), wrong: "is not a registry that can be left out",
			good: func(s string) bool { return slices.Contains(packageRegistries, s) }},
		"registry": {form: "host", allowed: "a host such as npm.example.com or npm.example.com:8443: no scheme, user or path",
			wrong: "is not a host", good: func(s string) bool {
				u, err := url.Parse("https://" + s)
				return err == nil && u.Host == s && u.Hostname() != "" && strings.ToLower(s) == s
			}},
		"host_port": {form: "host", allowed: "a name such as company.example.com or company.example.com:8443, in small letters: no " +
			"scheme, user or path", wrong: "is not a name that a browser can be sent to", good: func(s string) bool {
			u, err := url.Parse("https://" + s)
			return err == nil && u.Host == s && u.Hostname() != "" && strings.ToLower(s) == s && !strings.ContainsAny(s, "*%")
		}},
		"package": {form: "package", allowed: "the name of a package such as better-sqlite3 or \"@scope/name\": no version",
			wrong: "is not the name of a package", good: packageRE.MatchString},
		"branch": {form: "auto, branch", allowed: "a branch name", wrong: "is not a branch name",
			good: func(s string) bool { return s == Auto || isBranchName(s) }},
		"target": {form: "branch",
			allowed: "a branch name such as develop or feature/company, but not main or master", check: checkTarget},
		"remote": {form: "name", allowed: "the name of a remote, such as origin", wrong: "is not the name of a remote",
			good: remoteRE.MatchString},
		"author": {form: "Name <mail>",
			allowed: "Name <mail@example.com>", wrong: "is not an author", good: orEmpty(authorRE.MatchString)},
		"file": {form: "absolute path", allowed: "the absolute path of a file", wrong: "is not the path of a file",
			good: orEmpty(func(s string) bool { return filepath.IsAbs(s) && filepath.Clean(s) == s })},
		"folder": {form: "folder", allowed: "a folder of the repository such as services/api: no / in front, no .., no wildcard",
			wrong: "is not a folder of the repository", good: func(s string) bool {
				return s != "" && s != "." && filepath.IsLocal(s) && filepath.Clean(s) == s &&
					!strings.ContainsAny(s, "*?[\\\"\n") && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, ":")
			}},
		"place": {form: "folder", allowed: "a folder beside .company/ such as runtime: no / in front, no .., no name that begins with a dot",
			wrong: "is not a folder for readable files", good: IsReadablePlace},
		"glob": {form: "glob", allowed: "a glob such as internal/secret/**", check: func(s string) error {
			if _, err := glob.Parse(s); err != nil {
				return &valueError{"cannot be read (" + err.Error() + ")", textRules["glob"].allowed}
			}
			return nil
		}},
		"generate": {form: "rule", allowed: generateForm, check: func(s string) error {
			_, _, err := ParseGenerate(s)
			return err
		}},
		"label": {form: "label", allowed: "a label of up to 50 characters, without a comma", wrong: "is not a label",
			good: func(s string) bool {
				return strings.TrimSpace(s) != "" && utf8.RuneCountInString(s) <= 50 && !strings.ContainsAny(s, ",\n\t")
			}},
	}
}

// checkText applies the check of a key's tag to a text.
func checkText(tag reflect.StructTag, s string) error {
	rule, named := textRules[tag.Get("check")]
	switch {
	case !utf8.ValidString(s) || strings.ContainsFunc(
		s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return &valueError{"has a control character or is not UTF-8", describeAllowed(tag)}
	case rule.check != nil:
		return rule.check(s)
	case named && !rule.good(s):
		return &valueError{rule.wrong, rule.allowed}
	}
	return nil
}

// isDockerHost accepts the addresses that Docker's own client accepts on Linux.
func isDockerHost(s string) bool {
	if socket, ok := strings.CutPrefix(s, "unix://"); ok {
		return filepath.IsAbs(socket) && filepath.Clean(socket) == socket
	}
	address, ok := strings.CutPrefix(s, "tcp://")
	host, port, err := net.SplitHostPort(address)
	n, bad := strconv.ParseUint(port, 10, 16)
	return ok && err == nil && bad == nil && n > 0 && host != "" && !strings.ContainsAny(host, "/@ ")
}

// checkTarget refuses branches that must not collect work, such as main.
func checkTarget(s string) error {
	err := company.CheckBranchPrefix(s)
	if err == nil {
		return nil
	}
	if company.CodeOf(err) == company.EProtected {
		return &problem{what: "must never be main or master", found: strconv.Quote(s), code: company.EProtected,
			fix: "name a branch that collects the work, such as develop; the pull request goes to main"}
	}
	var fault *company.Error
	errors.As(err, &fault)
	return &valueError{"is not a branch that work may be collected on: " + fault.Why, textRules["target"].allowed}
}

func checkURL(s string) error {
	address, err := url.Parse(s)
	switch {
	case s == "":
	case err != nil || address.Host == "" || address.Hostname() == "" ||
		address.Scheme != "http" && address.Scheme != "https":
		return &valueError{"is not an address of that kind", textRules["http_url"].allowed}
	case address.User != nil:
		// Do not show it: it contains a password.
		return &problem{what: "holds a user or password", fix: "put the secret into an environment variable and name that"}
	case address.Fragment != "" || address.RawQuery != "" && strings.Contains(strings.ToLower(address.RawQuery), "key"):
		return &problem{what: "holds a key or fragment", fix: "put the secret into an environment variable and name that"}
	}
	return nil
}

// isRepositoryPath accepts a path in git's form, of printable characters.
func isRepositoryPath(s string) bool {
	return len(s) <= 200 && fs.ValidPath(s) && s != "." && !strings.HasPrefix(s, "-") &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// isBranchName checks a name by git's rules. It also refuses names that shells and people easily misread.
func isBranchName(s string) bool {
	if !branchRE.MatchString(s) || strings.HasSuffix(s, "/") || strings.HasSuffix(s, ".") || s == "HEAD" {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock") ||
			strings.Contains(part, "..") {
			return false
		}
	}
	return true
}

// validateKeys checks rules that involve several keys. at returns the source of a key.
func (c Config) validateKeys(at func(key string) string) problems {
	var ps problems
	profiles := slices.Sorted(maps.Keys(c.Models))
	known := func(key, name string) bool {
		if _, ok := c.Models[name]; ok {
			return true
		}
		p := problem{at: at(key), key: key, what: "names a profile that does not exist",
			found: shortenText(strconv.Quote(name)),
			fix:   "allowed: " + strings.Join(profiles, ", ")}
		if near := nearestKey(name, profiles); near != "" {
			p.fix = "did you mean " + near + "? " + p.fix
		}
		ps = append(ps, p)
		return false
	}
	for _, name := range profiles {
		model, key := c.Models[name], "models."+name
		ps = append(ps, c.validateProgram(name, at)...)
		if model.Adapter == company.AdapterProgram {
			if model.Via != "" {
				known(key+".via", model.Via)
			}
			continue
		}
		if model.Adapter == "scripted" {
			if model.Script == "" {
				ps = append(
					ps, problem{at: at(key + ".adapter"), key: key, what: "is scripted and has no script",
						fix: "add script: and the path of a script"})
			}
		} else if strings.TrimSpace(model.Model) == "" {
			ps = append(
				ps, problem{at: at(key + ".adapter"), key: key, what: "has no model",
					fix: "add model: and the name that its server calls it"})
		}
		good := true
		for _, f := range model.Fallback {
			good = known(key+".fallback", f) && good
			if c.Models[f].Adapter == company.AdapterProgram {
				ps = append(ps, problem{at: at(key + ".fallback"), key: key + ".fallback",
					what:  "names a program, which is no model",
					found: shortenText(strconv.Quote(f)), fix: "name a profile with another adapter"})
			}
		}
		if good && c.fallbackReaches(name, name, map[string]bool{}) {
			ps = append(
				ps, problem{at: at(key + ".fallback"), key: key + ".fallback", what: "leads back to the profile itself",
					fix: "let fallbacks end"})
		}
	}
	for _, a := range []struct {
		key   string
		agent Agent
	}{{"manager", c.Agents.Manager}, {"worker", c.Agents.Worker.Agent()}, {"reviewer", c.Agents.Reviewer},
		{"merger", c.Agents.Merger}} {
		known("agents."+a.key+".model", a.agent.Model)
	}
	if second := c.Agents.SecondReviewer.Model; second != "" {
		known("agents.second_reviewer.model", second)
	}
	for _, name := range c.Agents.Worker.EscalateTo {
		known("agents.worker.escalate_to", name)
	}
	if c.Workers.CommandTimeout > c.Workers.RunTimeout {
		ps = append(
			ps, problem{at: at("workers.command_timeout"), key: "workers.command_timeout",
				what:  "is longer than workers.run_timeout",
				found: c.Workers.CommandTimeout.String(), fix: "allowed: up to " + c.Workers.RunTimeout.String()})
	}
	if c.Container.Dockerfile != "" && c.Container.Image != Auto {
		ps = append(
			ps, problem{at: at("container.dockerfile"), key: "container.dockerfile", what: "is set, and container.image is too",
				found: shortenText(strconv.Quote(c.Container.Image)),
				fix:   "an image has one base: set one of them, or container.image: auto"})
	}
	if c.Git.Credential == "deploy_key" && c.Git.DeployKeyFile == "" {
		ps = append(ps, problem{at: at("git.credential"), key: "git.credential", what: "is deploy_key, and no key is named",
			fix: "set git.deploy_key_file to the path of the private key"})
	}
	if c.Forge.WebhookListen != "" && c.Forge.WebhookEnv == "" {
		ps = append(
			ps, problem{at: at("forge.webhook_listen"), key: "forge.webhook_listen",
				what: "is set, and forge.webhook_secret_env is not",
				fix:  "name the variable that holds the webhook's secret: what is not signed is not heard"})
	}
	ps = append(ps, c.Notify.validateWebhook(at)...)
	if p := c.Git.SigningKey; c.Git.Sign != "none" &&
		(p == "" || c.Git.Sign == "ssh" && !filepath.IsAbs(p) || strings.HasPrefix(p, "-")) {
		ps = append(
			ps, problem{at: at("git.sign"), key: "git.sign", what: "is " + c.Git.Sign + ", and git.signing_key names no key",
				found: strconv.Quote(p),
				fix:   "for ssh: the absolute path of a key; for gpg: the id of a key"})
	}
	return append(append(ps, c.Serve.validateAddress(at)...), c.Paths.validateFolders(at)...)
}

// validateAddress refuses an unencrypted address that other machines can reach (T19), and a certificate without a key
// or the reverse.
func (s Serve) validateAddress(at func(key string) string) problems {
	var ps problems
	if (s.TLSCert == "") != (s.TLSKey == "") {
		set, missing := "serve.tls_cert", "serve.tls_key"
		if s.TLSCert == "" {
			set, missing = missing, set
		}
		ps = append(
			ps, problem{at: at(set), key: set, what: "is set, and " + missing + " is not", fix: "set both, or neither"})
	}
	if a, err := netip.ParseAddrPort(s.Listen); err == nil && !a.Addr().IsLoopback() && s.TLSCert == "" {
		ps = append(ps, problem{at: at("serve.listen"), key: "serve.listen", what: "can be reached from other machines, " +
			"and there is no TLS", found: strconv.Quote(s.Listen),
			fix: "set serve.tls_cert and serve.tls_key, or listen on 127.0.0.1"})
	}
	return ps
}

// fallbackReaches reports whether a chain of fallbacks leads from one profile to another.
func (c Config) fallbackReaches(from, to string, seen map[string]bool) bool {
	for _, f := range c.Models[from].Next() {
		if f == to {
			return true
		}
		if !seen[f] {
			seen[f] = true
			if c.fallbackReaches(f, to, seen) {
				return true
			}
		}
	}
	return false
}

// CheckKeyFiles reports files with keys that others can read. Load does not call it, so that such a config can still
// be shown.
func (l Loaded) CheckKeyFiles() error {
	var ps problems
	for _, f := range []struct{ key, path string }{{"git.deploy_key_file", l.Config.Git.DeployKeyFile},
		{"serve.tls_key", l.Config.Serve.TLSKey}} {
		if f.path == "" {
			continue
		}
		if err := requirePrivateFile(f.path); err != nil {
			ps = append(ps, problem{at: l.Origin[f.key], key: f.key, what: err.Error(), fix: "chmod 600 " + f.path})
		}
	}
	return ps.asError("check the config")
}

// requirePrivateFile refuses a file with keys that users other than its owner can read.
func requirePrivateFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("is not a file")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("holds keys and can be read by others (mode %04o)", mode)
	}
	return nil
}
