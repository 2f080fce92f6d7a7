package config

import (
	"slices"
	"strings"
)

// Variable is an environment variable that the company reads, apart from those of the keys of company.yaml.
type Variable struct {
	Name string // a * stands for any ending
	Area string // the heading under which it is listed
	Doc  string
}

// The areas of variables, in display order.
const (
	areaCompany    = "The company"
	areaPlaces     = "Places"
	areaModels     = "Models"
	areaForges     = "Forges"
	areaGit        = "Git"
	areaDocker     = "Docker"
	areaNetwork    = "Network"
	areaRegistries = "Package registries"
	areaTerminal   = "Terminal"
)

// VarForeground is the variable that stands for --foreground.
const VarForeground = "COMPANY_FOREGROUND"

// IsRead reports whether a company at work depends on a variable. It does not on those of a terminal, and on those
// that select an office or its process.
func IsRead(name string) bool {
	return slices.ContainsFunc(Variables(), func(v Variable) bool {
		prefix, any := strings.CutSuffix(v.Name, "*")
		matches := strings.EqualFold(v.Name, name) ||
			any && len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
		return matches && v.Area != areaTerminal && v.Name != VarForeground && v.Name != "COMPANY_OFFICE"
	})
}

// Variables lists all environment variables that the company reads and that set no key. docs/environment.md is
// generated from it. test/archtest checks that the code reads no others.
func Variables() []Variable {
	return []Variable{
		{"COMPANY_OFFICE", areaCompany, "Folder of the office, like --office."},
		{VarForeground, areaCompany, "1: work in the process of each command, like --foreground."},
		{VarEnvironment, areaCompany, "test: allow the scripted adapter. production: refuse it."},
		{"GOGC", areaCompany, "Go garbage collector. Default: 400 at start, then 100."},

		{"HOME", areaPlaces, "Home folder."},
		{"XDG_CONFIG_HOME", areaPlaces, "Your config in company/, logins of gh, tea and pip. Default: ~/.config."},
		{"XDG_CACHE_HOME", areaPlaces, "Images and packages in company/. Default: ~/.cache."},
		{"XDG_STATE_HOME", areaPlaces, "Offices and trusted files in company/. Default: ~/.local/state."},
		{"XDG_RUNTIME_DIR", areaPlaces, "Socket of the office, if the folder is private."},
		{"TMPDIR", areaPlaces, "Temporary files. Default: /tmp."},
		{"PATH", areaPlaces,
			"Finds gh, go, mmdebstrap and apt. Git is /usr/bin/git or /bin/git, except for pr checkout and pr merge."},

		{"OPENAI_API_KEY", areaModels, "Key for a profile without api_key_env and base_url. Secret."},
		{"ANTHROPIC_API_KEY", areaModels, "Key for a profile without api_key_env and base_url. Secret."},
		{"OLLAMA_API_KEY", areaModels, "Only masked in output. Secret."},
		{"OLLAMA_HOST", areaModels, "Address of Ollama. Default: 127.0.0.1:11434."},

		{"GITHUB_TOKEN", areaForges, "Token of GitHub, unless forge.token_env names another variable. Secret."},
		{"GH_TOKEN", areaForges, "Token of GitHub, unless forge.token_env names another variable. Secret."},
		{"GH_ENTERPRISE_TOKEN", areaForges, "Token of a GitHub Enterprise server. Secret."},
		{"GITHUB_ENTERPRISE_TOKEN", areaForges, "Token of a GitHub Enterprise server. Secret."},
		{"GITEA_TOKEN", areaForges, "Token of a Gitea or Forgejo server. Secret."},
		{"GITEA_SERVER_TOKEN", areaForges, "Token of a Gitea or Forgejo server. Secret."},
		{"GH_CONFIG_DIR", areaForges, "Login of gh. Default: gh in the config folder."},
		{"DBUS_SESSION_BUS_ADDRESS", areaForges, "Passed to gh."},
		{"LANG", areaForges, "Passed to gh."},

		{"SSH_AUTH_SOCK", areaGit, "ssh agent for logins and signing."},
		{"GNUPGHOME", areaGit, "Folder of gpg keys. Default: ~/.gnupg."},
		{"GIT_CONFIG_GLOBAL", areaGit, "As for git, with git.use_my_logins only."},
		{"GIT_CONFIG_NOSYSTEM", areaGit, "As for git, with git.use_my_logins only."},
		{"USER", areaGit, "Passed to credential helpers and ssh with git.use_my_logins."},
		{"LOGNAME", areaGit, "Passed to credential helpers and ssh with git.use_my_logins."},
		{"GIT_SSL_CAINFO", areaGit, "Certificates for git. Default: SSL_CERT_FILE, SSL_CERT_DIR."},
		{"GIT_SSL_CAPATH", areaGit, "Certificates for git. Default: SSL_CERT_FILE, SSL_CERT_DIR."},
		{"SUDO_UID", areaGit, "User whose checkouts root may open under sudo."},

		{"DOCKER_HOST", areaDocker, "Docker daemon; overrides container.docker_host."},
		{"DOCKER_CONTEXT", areaDocker, "Docker context; container.docker_host overrides it."},
		{"DOCKER_CONFIG", areaDocker, "As for the Docker client."},
		{"DOCKER_CERT_PATH", areaDocker, "As for the Docker client."},
		{"DOCKER_TLS_VERIFY", areaDocker, "As for the Docker client."},
		{"DOCKER_API_VERSION", areaDocker, "As for the Docker client."},

		{"HTTP_PROXY", areaNetwork, "Proxy for models, forges, registries and git; lower case works too."},
		{"HTTPS_PROXY", areaNetwork, "Proxy for models, forges, registries and git; lower case works too."},
		{"ALL_PROXY", areaNetwork, "Proxy for git only; lower case works too."},
		{"NO_PROXY", areaNetwork, "Hosts reached without a proxy; lower case works too."},
		{"SSL_CERT_FILE", areaNetwork, "Trusted certificates instead of the system's."},
		{"SSL_CERT_DIR", areaNetwork, "Trusted certificates instead of the system's."},

		{"NETRC", areaRegistries, "Registry passwords, after company trust --logins. Default: ~/.netrc."},
		{"GO*", areaRegistries, "GOPROXY, GOSUMDB, GONOSUMDB, GOPRIVATE, GONOPROXY, GOINSECURE."},
		{"npm_config_*", areaRegistries, "npm's registry, userconfig, globalconfig, prefix; upper case works too."},
		{"PIP_*", areaRegistries, "pip's index-url, extra-index-url, proxy, cert, no-index, config-file."},
		{"CARGO_HOME", areaRegistries, "cargo's config and credentials. Default: ~/.cargo."},
		{"CARGO_REGISTRIES_*", areaRegistries, "CARGO_REGISTRIES_<NAME>_INDEX: index of a cargo registry."},
		{"CARGO_HTTP_PROXY", areaRegistries, "Proxy for cargo."},
		{"COMPOSER_HOME", areaRegistries,
			"composer's config.json and auth.json. Default: ~/.config/composer or ~/.composer."},
		{"COMPOSER_AUTH", areaRegistries, "composer's logins, in the form of auth.json."},
		{"NODE_EXTRA_CA_CERTS", areaRegistries, "Certificates for npm, pip, cargo and composer."},
		{"REQUESTS_CA_BUNDLE", areaRegistries, "Certificates for npm, pip, cargo and composer."},
		{"CARGO_HTTP_CAINFO", areaRegistries, "Certificates for npm, pip, cargo and composer."},
		{"COMPOSER_CAFILE", areaRegistries, "Certificates for npm, pip, cargo and composer."},

		{"VISUAL", areaTerminal, "Editor for company submit without an instruction."},
		{"EDITOR", areaTerminal, "Editor for company submit without an instruction."},
		{"DISPLAY", areaTerminal, "Screen for company open; without one it only prints the link."},
		{"WAYLAND_DISPLAY", areaTerminal, "Screen for company open; without one it only prints the link."},
		{"NO_COLOR", areaTerminal, "Disable colour."},
		{"TERM", areaTerminal, "dumb: no colour, no redrawing."},
		{"PAGER", areaTerminal, "Pager; cat or empty: none. Default: less."},
		{"LESS", areaTerminal, "Options of less. Default: FRX."},
	}
}
