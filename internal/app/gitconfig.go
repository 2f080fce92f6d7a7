package app

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/gitops/gitlogin"
	"company/internal/office"
	"company/internal/office/config"
)

// GitConfig returns the config of an office's git store, with its access to remotes.
func GitConfig(paths office.Paths, cfg config.Config, env func(string) (string, bool)) (gitops.Config, error) {
	author, err := parseAuthor(cfg.Git.Author)
	if err != nil {
		return gitops.Config{}, err
	}
	agent, _ := env("SSH_AUTH_SOCK")
	forges := OpenForges(nil, cfg, nil, env)
	personal := gitlogin.New(env)
	var logins *gitlogin.Logins
	if cfg.Git.UseMyLogins {
		if logins = personal; logins == nil {
			return gitops.Config{}, company.E(company.EConfig, "cannot find your own logins").
				Because("git.use_my_logins is on, but HOME is not a folder").
				Fix("export HOME, or set git.use_my_logins: false").NeedsPerson()
		}
	}
	return gitops.Config{
		Signoff: cfg.Git.Signoff, Sign: cfg.Git.Sign, SigningKey: cfg.Git.SigningKey, GPGHome: gpgHome(env),
		Root: paths.Git, Author: author, Remote: cfg.Git.Remote, IntegrationPrefix: cfg.Git.IntegrationBranch,
		Method: cfg.Git.Credential, DeployKey: cfg.Git.DeployKeyFile, AgentSocket: agent, ForgeURL: cfg.Forge.URL,
		OperatorEnv: gitops.OperatorEnv(env),
		Personal:    personal,
		Logins:      logins,
		Credential:  ForgeLogin(forges, cfg, TokenCredential(cfg, env)),
		TokenFix:    func(remote string) string { return TokenHint(forges, cfg, remote) },
	}, nil
}

// TokenHint explains how to log in over https. The forge of the remote knows the token's variable
// and its required permissions.
func TokenHint(forges *forge.Selector, cfg config.Config, remote string) string {
	fix := forges.HowToLogIn(remote)
	if fix == "" {
		fix = "export " + cfg.Forge.TokenEnv + "=… with a token that may read and write the repository"
	}
	return fix + otherLogins(cfg)
}

// otherLogins lists the ways to log in without a token.
func otherLogins(cfg config.Config) string {
	other := ", or set git.credential: ssh_agent or deploy_key"
	if !cfg.Git.UseMyLogins {
		other += ", or let git use your own logins (credential helpers, ~/.netrc, ~/.ssh): company config set --user " +
			"git.use_my_logins true"
	}
	return other
}

// ForgeLogin asks the forges first. They know the operator's own logins (gh, tea) and the tokens
// of a GitHub App. otherwise handles hosts of other kinds.
func ForgeLogin(forges *forge.Selector, cfg config.Config, otherwise gitops.Credential) gitops.Credential {
	return func(ctx context.Context, host string) (string, string, error) {
		user, secret, err := forges.Credential(ctx, host, gitops.RemoteOf(ctx))
		if err != nil || secret != "" {
			return user, secret, err
		}
		if fix := forges.HowToLogIn(gitops.RemoteOf(ctx)); fix != "" {
			// A known forge was already searched. A token for another host must not be sent to it.
			return "", "", gitops.NoToken(
				company.E(company.EAuth, "there is no token for "+host).Fix(fix + otherLogins(cfg)).NeedsPerson())
		}
		return otherwise(ctx, host)
	}
}

// TokenCredential returns the token of forge.token_env, but only for the hosts that it is for.
// With forge.url that is the forge's host. Otherwise a variable of a kind's own tools is for its public forge,
// and a variable chosen by the president is for any host.
func TokenCredential(cfg config.Config, env func(string) (string, bool)) gitops.Credential {
	return func(_ context.Context, host string) (string, string, error) {
		name := cfg.Forge.TokenEnv
		address, err := url.Parse(cfg.Forge.URL)
		switch {
		case err == nil && cfg.Forge.URL != "" && !strings.EqualFold(address.Host, host),
			cfg.Forge.URL == "" && isForeignToken(name, strings.ToLower(host)):
			return "", "", gitops.NoToken(
				company.E(company.EAuth, "there is no token for "+host).Because(name + " is for another host").
					Fix("set forge.url to https://" + host + " or forge.token_env to a variable with a token for it" +
						otherLogins(cfg)).
					NeedsPerson())
		}
		secret, _ := env(name)
		if secret == "" {
			return "", "", gitops.NoToken(company.E(company.EAuth, "there is no token for "+host).Because(name + " is NOT SET").
				Fix("export " + name + "=… with a token that may read and write the repository" + otherLogins(cfg)).NeedsPerson())
		}
		return "", secret, nil
	}
}

// isForeignToken reports whether a variable belongs to a public forge that does not serve a host.
func isForeignToken(name, host string) bool {
	return slices.ContainsFunc(ForgeDrivers, func(d forge.Driver) bool {
		return slices.Contains(d.TokenEnvs, name) && !d.ServesHost(host)
	})
}

// gpgHome returns the folder of the operator's gpg keys.
func gpgHome(env func(string) (string, bool)) string {
	if dir, ok := env("GNUPGHOME"); ok && dir != "" {
		return dir
	}
	if home, ok := env("HOME"); ok && filepath.IsAbs(home) {
		return filepath.Join(home, ".gnupg")
	}
	return ""
}

// parseAuthor parses git.author: Name <mail>.
func parseAuthor(s string) (gitops.Person, error) {
	if s == "" {
		return gitops.Person{Name: "company", Email: "company@localhost"}, nil
	}
	name, mail, ok := strings.Cut(s, "<")
	if !ok {
		return gitops.Person{}, company.E(company.EConfig, "invalid git.author: use Name <mail>")
	}
	return gitops.Person{Name: strings.TrimSpace(name), Email: strings.TrimSuffix(strings.TrimSpace(mail), ">")}, nil
}
