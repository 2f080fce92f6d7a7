package debian

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"company/internal/ecosystem"
)

// debianKeys is the prefix of the names of Debian's own key files.
const debianKeys = "debian-archive-"

// aptSource is one entry in apt's sources, for binary packages.
type aptSource struct {
	uris, suites, components []string
	architectures            []string
	signedBy                 string
	trusted                  bool
}

// ReadSettings reads from apt's sources the archives that are signed with Debian's keys. It leaves out other
// archives, because a Debian image has no keys to verify them.
func (Archives) ReadSettings(ctx context.Context, host ecosystem.Host) (ecosystem.Upstream, error) {
	var all []aptSource
	dir := filepath.Join(host.Root(), "etc/apt")
	for _, f := range append([]string{filepath.Join(dir, "sources.list")},
		host.Glob(filepath.Join(dir, "sources.list.d", "*.list"))...) {
		all = append(all, parseSourcesList(readSources(host, f))...)
	}
	for _, f := range host.Glob(filepath.Join(dir, "sources.list.d", "*.sources")) {
		all = append(all, parseDeb822(readSources(host, f))...)
	}
	foreign := false
	var archives []ecosystem.Endpoint
	for _, s := range all {
		if len(s.architectures) > 0 && !slices.Contains(s.architectures, runtime.GOARCH) {
			continue
		}
		if s.trusted || s.signedBy != "" && !strings.HasPrefix(filepath.Base(s.signedBy), debianKeys) {
			foreign = true
			continue
		}
		for _, uri := range s.uris {
			archives = addArchive(host, archives, uri, s)
		}
	}
	if foreign {
		host.AddNote("apt sources that are not checked with Debian's own keys are not served")
	}
	if len(archives) > 0 {
		setProxies(ctx, host, archives)
	}
	return ecosystem.At(archives...), nil
}

// readSources reads a sources file. It returns no text if the file is unreadable.
func readSources(host ecosystem.Host, file string) []byte {
	text, err := host.ReadFile(file)
	if errors.Is(err, fs.ErrPermission) {
		host.AddNote("%s cannot be read", filepath.Base(file))
	}
	return text
}

// addArchive adds the suites of one address.
func addArchive(host ecosystem.Host, archives []ecosystem.Endpoint, uri string, s aptSource) []ecosystem.Endpoint {
	endpoint, err := ecosystem.ParseEndpoint(uri)
	if err != nil {
		host.AddNote("an apt source is %v and is left out", err)
		return archives
	}
	if header, _ := endpoint.Auth(); strings.HasPrefix(endpoint.URL, "https:") && header == "" {
		endpoint = withAptAuth(host, endpoint)
	}
	i := slices.IndexFunc(archives, func(a ecosystem.Endpoint) bool { return a.URL == endpoint.URL })
	if i < 0 {
		endpoint.Parts = map[string][]string{}
		archives, i = append(archives, endpoint), len(archives)
	}
	have := archives[i].Parts
	for _, suite := range s.suites {
		if !suiteRE.MatchString(suite) { // also rejects the path of a flat archive
			host.AddNote("the suite %.60q of an apt source is left out", suite)
			continue
		}
		for _, c := range s.components {
			if componentRE.MatchString(c) && !slices.Contains(have[suite], c) {
				have[suite] = append(have[suite], c)
			}
		}
	}
	if len(have) == 0 {
		return slices.Delete(archives, i, i+1)
	}
	return archives
}

// withAptAuth adds the login from apt's auth.conf for a host.
func withAptAuth(host ecosystem.Host, endpoint ecosystem.Endpoint) ecosystem.Endpoint {
	address, err := url.Parse(endpoint.URL)
	if err != nil {
		return endpoint
	}
	dir := filepath.Join(host.Root(), "etc/apt")
	for _, f := range append([]string{filepath.Join(dir, "auth.conf")},
		host.Glob(filepath.Join(dir, "auth.conf.d", "*.conf"))...) {
		text, _ := host.ReadFile(f) // usually readable only by root
		if login, password, ok := ecosystem.FindNetrcLogin(text, address.Hostname()); ok {
			return endpoint.WithAuth(ecosystem.BasicAuth(login, password))
		}
	}
	return endpoint
}

// setProxies sets apt's proxies for http and for https. Without a setting in apt, the environment applies.
func setProxies(ctx context.Context, host ecosystem.Host, archives []ecosystem.Endpoint) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for _, scheme := range []string{"http", "https"} {
		out, err := host.Run(ctx, nil, "apt-config", "shell", "P", "Acquire::"+scheme+"::Proxy")
		value, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "P=")
		if value = strings.Trim(value, "'"); err != nil || !ok || value == "" {
			continue
		}
		if u, err := url.Parse(value); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			host.AddNote("apt's proxy for %s is not an http or https address and is not used", scheme)
			continue
		}
		for i := range archives {
			if strings.HasPrefix(archives[i].URL, scheme+":") {
				archives[i].Proxy = value
			}
		}
	}
}

// parseSourcesList reads the one-line format: deb [option=value …] address suite component….
func parseSourcesList(text []byte) (out []aptSource) {
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "deb")
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		var s aptSource
		rest = strings.TrimSpace(rest)
		if options, after, ok := strings.Cut(rest, "]"); ok && strings.HasPrefix(rest, "[") {
			for o := range strings.FieldsSeq(options[1:]) {
				name, value, _ := strings.Cut(o, "=")
				s.set(name, strings.Split(value, ","))
			}
			rest = after
		}
		f := strings.Fields(rest)
		if len(f) < 3 {
			continue
		}
		s.uris = f[:1]
		s.suites = f[1:2]
		s.components = f[2:]
		out = append(out, s)
	}
	return out
}

// parseDeb822 reads the deb822 format.
func parseDeb822(text []byte) (out []aptSource) {
	for stanza := range strings.SplitSeq(strings.ReplaceAll(string(text), "\r", ""), "\n\n") {
		fields := map[string][]string{}
		name := ""
		for line := range strings.Lines(stanza) {
			switch {
			case strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
				fields[name] = append(fields[name], strings.Fields(line)...)
			default:
				n, value, _ := strings.Cut(line, ":")
				name = strings.ToLower(strings.TrimSpace(n))
				fields[name] = strings.Fields(value)
			}
		}
		if !slices.Contains(fields["types"], "deb") || isOff(fields["enabled"]) {
			continue
		}
		s := aptSource{uris: fields["uris"], suites: fields["suites"], components: fields["components"]}
		for name, value := range fields {
			s.set(name, value)
		}
		out = append(out, s)
	}
	return out
}

// set applies an option that both formats have.
func (s *aptSource) set(name string, value []string) {
	switch strings.ToLower(name) {
	case "arch", "architectures":
		s.architectures = value
	case "signed-by":
		s.signedBy = strings.Join(value, " ")
	case "trusted":
		s.trusted = len(value) > 0 && !isOff(value)
	}
}

func isOff(value []string) bool {
	return len(value) > 0 && slices.Contains(
		[]string{"no", "false", "without", "off", "disable", "0"}, strings.ToLower(value[0]))
}
