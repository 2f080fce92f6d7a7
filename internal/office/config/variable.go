package config

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

// Variables lists all environment variables that the company reads and that set no key. docs/environment.md is
// generated from it. test/archtest checks that the code reads no others.
func Variables() []Variable {
	return []Variable{
		{"COMPANY_OFFICE", areaCompany, "Folder of the office, as --office names it."},
		{"GOGC", areaCompany,
			"Pace of Go's garbage collector. Default: 400 while a command starts, 100 once a company is at work."},

		{"HOME", areaPlaces, "Your home: ~/.config, ~/.cache, ~/.local/state, ~/.netrc, ~/.gitconfig, ~/.npmrc, ~/.cargo " +
			"and ~/.gnupg are looked for below it."},
		{"XDG_CONFIG_HOME", areaPlaces,
			"Your own config is $XDG_CONFIG_HOME/company/config.yaml; the logins of gh, tea and pip lie there, too. Default: " +
				"~/.config."},
		{"XDG_CACHE_HOME", areaPlaces,
			"What images and packages are made of is kept in $XDG_CACHE_HOME/company. Default: ~/.cache."},
		{"XDG_STATE_HOME", areaPlaces, "The list of what you trust is in $XDG_STATE_HOME/company. Default: ~/.local/state."},
		{"XDG_RUNTIME_DIR", areaPlaces,
			"The office's socket, where the folder is private to you and its path is short enough; else it lies in the office."},
		{"TMPDIR", areaPlaces, "Temporary files. Default: /tmp."},
		{"PATH", areaPlaces, "Where gh, go, mmdebstrap and apt are looked for. Git is always that of /usr/bin or /bin, but " +
			"for company pr checkout and company pr merge, which use yours."},

		{"OPENAI_API_KEY", areaModels,
			"Key of OpenAI's own service, for a profile that names neither api_key_env nor base_url. Secret."},
		{"ANTHROPIC_API_KEY", areaModels, "Key of Anthropic's own service, in the same way. Secret."},
		{"OLLAMA_API_KEY", areaModels,
			"Not used as a login. Its value is masked wherever a text is shown or published. Secret."},
		{"OLLAMA_HOST", areaModels, "Address of Ollama's server, as its own programs read it. Default: 127.0.0.1:11434."},

		{"GITHUB_TOKEN", areaForges,
			"Token of github.com, or of a GitHub Enterprise server at forge.url; it goes to no Gitea. forge.token_env names " +
				"another variable. Secret."},
		{"GH_TOKEN", areaForges, "The same, where GITHUB_TOKEN is not set. Secret."},
		{"GH_ENTERPRISE_TOKEN", areaForges, "Token of a GitHub Enterprise server. Secret."},
		{"GITHUB_ENTERPRISE_TOKEN", areaForges, "The same, where GH_ENTERPRISE_TOKEN is not set. Secret."},
		{"GITEA_TOKEN", areaForges, "Token of a Gitea or Forgejo server. Secret."},
		{"GITEA_SERVER_TOKEN", areaForges, "The same, where GITEA_TOKEN is not set. Secret."},
		{"GH_CONFIG_DIR", areaForges, "Where gh keeps its login. Default: gh in the config folder."},
		{"DBUS_SESSION_BUS_ADDRESS", areaForges, "Handed to gh, whose login may lie in the desktop's key store."},
		{"LANG", areaForges, "Handed to gh."},

		{"SSH_AUTH_SOCK", areaGit, "The ssh agent, with git.credential: ssh_agent or git.use_my_logins, and for signing."},
		{"GNUPGHOME", areaGit, "The folder of gpg's keys, with git.sign: gpg. Default: ~/.gnupg."},
		{"GIT_CONFIG_GLOBAL", areaGit,
			"Your git configuration, with git.use_my_logins. Default: ~/.gitconfig and git/config in the config folder."},
		{"GIT_CONFIG_NOSYSTEM", areaGit, "Not empty: that of the system is left out, with git.use_my_logins."},
		{"USER", areaGit, "Handed to your credential helpers and ssh with git.use_my_logins, as are LOGNAME, PATH, XDG_*, " +
			"DBUS_SESSION_BUS_ADDRESS, SSH_AUTH_SOCK, GNUPGHOME and GH_CONFIG_DIR."},
		{"LOGNAME", areaGit, "The same."},
		{"GIT_SSL_CAINFO", areaGit, "Certificates that git trusts. Without it those of SSL_CERT_FILE."},
		{"GIT_SSL_CAPATH", areaGit, "A folder of such certificates. Without it that of SSL_CERT_DIR."},
		{"SUDO_UID", areaGit, "Under sudo: whose checkouts root may open, as git does."},

		{"DOCKER_HOST", areaDocker,
			"Address of the daemon, above container.docker_host. Default: that of the Docker context, else " +
				"unix:///var/run/docker.sock."},
		{"DOCKER_CONTEXT", areaDocker,
			"The context of Docker's own client, below container.docker_host. Default: the one of docker context use."},
		{"DOCKER_CONFIG", areaDocker, "The folder of Docker's own client, with its contexts. Default: ~/.docker."},
		{"DOCKER_CERT_PATH", areaDocker, "Folder of the client's certificates, for a daemon behind TLS."},
		{"DOCKER_TLS_VERIFY", areaDocker, "Not empty: the daemon's certificate is verified."},
		{"DOCKER_API_VERSION", areaDocker, "Version of the daemon's API. Default: agreed with the daemon."},

		{"HTTP_PROXY", areaNetwork, "Proxy for http, for models, forges, registries and git; http_proxy, too."},
		{"HTTPS_PROXY", areaNetwork, "Proxy for https; https_proxy, too."},
		{"ALL_PROXY", areaNetwork, "Proxy of git alone; all_proxy, too."},
		{"NO_PROXY", areaNetwork, "Hosts that are reached without a proxy; no_proxy, too."},
		{"SSL_CERT_FILE", areaNetwork, "File of certificates that are trusted in place of the system's."},
		{"SSL_CERT_DIR", areaNetwork, "Folders of such files."},

		{"NETRC", areaRegistries,
			"File of passwords of registries. Default: ~/.netrc. Used with company trust --logins alone."},
		{"GO*", areaRegistries, "GOPROXY, GOSUMDB, GONOSUMDB, GOPRIVATE, GONOPROXY and GOINSECURE, as go env says them."},
		{"npm_config_*", areaRegistries, "npm's registry, userconfig, globalconfig and prefix; NPM_CONFIG_*, too."},
		{"NODE_EXTRA_CA_CERTS", areaRegistries, "File of certificates that npm trusts."},
		{"PIP_*", areaRegistries,
			"pip's index-url, extra-index-url, proxy, cert and no-index; PIP_CONFIG_FILE names its config."},
		{"REQUESTS_CA_BUNDLE", areaRegistries, "File of certificates that pip trusts."},
		{"CARGO_HOME", areaRegistries, "Folder of cargo's config and credentials. Default: ~/.cargo."},
		{"CARGO_HTTP_PROXY", areaRegistries, "cargo's proxy."},
		{"CARGO_HTTP_CAINFO", areaRegistries, "File of certificates that cargo trusts."},
		{"COMPOSER_HOME", areaRegistries,
			"Folder of composer's config.json and auth.json. Default: ~/.config/composer or ~/.composer."},
		{"COMPOSER_AUTH", areaRegistries, "composer's logins, as auth.json has them."},
		{"COMPOSER_CAFILE", areaRegistries, "File of certificates that composer trusts."},
		{"CARGO_REGISTRIES_*", areaRegistries, "CARGO_REGISTRIES_<NAME>_INDEX: the index of a registry of cargo."},

		{"VISUAL", areaTerminal, "The editor in which an instruction is written where company submit is given none."},
		{"EDITOR", areaTerminal, "The same, where VISUAL is not set."},
		{"DISPLAY", areaTerminal,
			"The screen on which company open opens a browser; without it and WAYLAND_DISPLAY the link is only printed."},
		{"WAYLAND_DISPLAY", areaTerminal, "The same, of Wayland."},
		{"NO_COLOR", areaTerminal, "Not empty: no colour."},
		{"TERM", areaTerminal, "dumb: no colour, and nothing is drawn in place."},
		{"PAGER", areaTerminal,
			"The program that shows what does not fit on the terminal. Default: less. cat or empty: none."},
		{"LESS", areaTerminal, "Options of less. Default: FRX."},
	}
}
