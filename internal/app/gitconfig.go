package app

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/config"
	"company/internal/forge"
	"company/internal/gitlogin"
	"company/internal/gitops"
	"company/internal/office"
)

// GitConfig is the store of an office and how it reaches remotes.
func GitConfig(p office.Paths, c config.Config, env func(string) (string, bool)) (gitops.Config, error) {
	author, err := parseAuthor(c.Git.Author)
	if err != nil {
		return gitops.Config{}, err
	}
	agent, _ := env("SSH_AUTH_SOCK")
	forges := OpenForges(nil, c, nil, env)
	var logins *gitlogin.Logins
	if c.Git.UseMyLogins {
		if logins = gitlogin.New(env); logins == nil {
			return gitops.Config{}, company.E(company.EConfig, "your own logins cannot be found").Because("git.use_my_logins is on, and HOME names no folder").
				Fix("export HOME, or set git.use_my_logins: false").NeedsPerson()
		}
	}
	return gitops.Config{
		Signoff: c.Git.Signoff, Sign: c.Git.Sign, SigningKey: c.Git.SigningKey, GPGHome: gpgHome(env),
		Root: p.Git, Author: author, Remote: c.Git.Remote, IntegrationPrefix: c.Git.IntegrationBranch,
		Method: c.Git.Credential, DeployKey: c.Git.DeployKeyFile, AgentSocket: agent, ForgeURL: c.Forge.URL,
		OperatorEnv: gitops.OperatorEnv(env),
		Logins:      logins,
		Credential:  ForgeLogin(forges, c, TokenCredential(c, env)),
		TokenFix:    func(remote string) string { return TokenHint(forges, c, remote) },
	}, nil
}

// TokenHint is what a person does for a login over https: the forge of the
// remote knows which variable it reads and what the token must be allowed.
func TokenHint(forges *forge.Selector, c config.Config, remote string) string {
	fix := forges.HowToLogIn(remote)
	if fix == "" {
		fix = "export " + c.Forge.TokenEnv + "=… with a token that may read and write the repository"
	}
	return fix + otherLogins(c)
}

// otherLogins are the ways to log in without a token.
func otherLogins(c config.Config) string {
	other := ", or set git.credential: ssh_agent or deploy_key"
	if !c.Git.UseMyLogins {
		other += ", or let git use your own logins (credential helpers, ~/.netrc, ~/.ssh): company config set --user git.use_my_logins true"
	}
	return other
}

// ForgeLogin asks the forges first: they know the operator's own logins (gh, tea),
// and a GitHub App's tokens. otherwise is for hosts that are no forge of ours.
func ForgeLogin(forges *forge.Selector, c config.Config, otherwise gitops.Credential) gitops.Credential {
	return func(ctx context.Context, host string) (string, string, error) {
		user, secret, err := forges.Credential(ctx, host, gitops.RemoteOf(ctx))
		if err != nil || secret != "" {
			return user, secret, err
		}
		if fix := forges.HowToLogIn(gitops.RemoteOf(ctx)); fix != "" {
			// It is a forge of ours, and has been looked through: a token that is
			// for another host goes there no more than elsewhere.
			return "", "", gitops.NoToken(company.E(company.EAuth, "there is no token for "+host).Fix(fix + otherLogins(c)).NeedsPerson())
		}
		return otherwise(ctx, host)
	}
}

// TokenCredential gives the token of forge.token_env, to the hosts that it is for: the
// forge of forge.url; without one, github.com for GITHUB_TOKEN, and wherever
// the remote is for a variable that the president named.
func TokenCredential(c config.Config, env func(string) (string, bool)) gitops.Credential {
	return func(_ context.Context, host string) (string, string, error) {
		name := c.Forge.TokenEnv
		name0 := strings.ToLower(host)
		at, err := url.Parse(c.Forge.URL)
		switch {
		case err == nil && c.Forge.URL != "" && !strings.EqualFold(at.Host, host),
			c.Forge.URL == "" && name == "GITHUB_TOKEN" && name0 != "github.com" && !strings.HasSuffix(name0, ".ghe.com"):
			return "", "", gitops.NoToken(company.E(company.EAuth, "there is no token for "+host).Because(name + " is for another host").
				Fix("set forge.url to https://" + host + " or forge.token_env to a variable with a token for it" + otherLogins(c)).NeedsPerson())
		}
		secret, _ := env(name)
		if secret == "" {
			return "", "", gitops.NoToken(company.E(company.EAuth, "there is no token for "+host).Because(name + " is NOT SET").
				Fix("export " + name + "=… with a token that may read and write the repository" + otherLogins(c)).NeedsPerson())
		}
		return "", secret, nil
	}
}

// gpgHome is where the operator's gpg keeps its keys.
func gpgHome(env func(string) (string, bool)) string {
	if dir, ok := env("GNUPGHOME"); ok && dir != "" {
		return dir
	}
	if home, ok := env("HOME"); ok && filepath.IsAbs(home) {
		return filepath.Join(home, ".gnupg")
	}
	return ""
}

// parseAuthor reads git.author: Name <mail>.
func parseAuthor(s string) (gitops.Person, error) {
	if s == "" {
		return gitops.Person{Name: "company", Email: "company@localhost"}, nil
	}
	name, mail, ok := strings.Cut(s, "<")
	if !ok {
		return gitops.Person{}, company.E(company.EConfig, "git.author is Name <mail>")
	}
	return gitops.Person{Name: strings.TrimSpace(name), Email: strings.TrimSuffix(strings.TrimSpace(mail), ">")}, nil
}
