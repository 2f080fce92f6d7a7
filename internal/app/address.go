package app

import (
	"crypto/tls"
	"strings"

	"company/internal/api"
	"company/internal/api/page"
	"company/internal/company"
	"company/internal/lib/secret"
	"company/internal/office/config"
)

// minProgramToken is the minimum length of the token for programs.
const minProgramToken = 16

// openAddress makes the server accept TCP connections of browsers and programs, if the config sets
// an address.
func (a *App) openAddress(srv *api.Server) error {
	cfg := a.loaded.Config.Serve
	if cfg.Listen == "" {
		return nil
	}
	// Programs that know the default port would send their token to any process that has it.
	anyPort := a.loaded.Origin["serve.listen"] == config.OriginDefault && cfg.TokenEnv == ""
	tcpOptions := api.TCPOptions{Listen: cfg.Listen, AnyPort: anyPort, Hosts: cfg.Hosts, Page: page.Handler()}
	if cfg.TokenEnv != "" {
		token := strings.TrimSpace(a.envValue(cfg.TokenEnv))
		if len(token) < minProgramToken {
			state := "is NOT SET"
			if token != "" {
				state = "has fewer than 16 characters"
			}
			return company.E(company.EConfig, "serve.token_env is set but has no usable token").
				Because(cfg.TokenEnv + " " + state).
				Fix("export " + cfg.TokenEnv + "=$(openssl rand -hex 32), or remove serve.token_env")
		}
		tcpOptions.Program = secret.New(token)
	}
	if cfg.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
		if err != nil {
			return company.E(company.EConfig, "cannot use serve.tls_cert and serve.tls_key").Wrap(err).
				Fix("use PEM files of a certificate and its key")
		}
		tcpOptions.TLS = &pair
	}
	address, err := srv.ListenTCP(tcpOptions)
	a.address = address
	return err
}

// Address returns the address of this office for browsers and programs, or "" if it has none.
func (a *App) Address() string { return a.address }

// NewLink returns a one-time link that opens the office in a browser. It returns EConflict if the
// office has no address.
func (a *App) NewLink() (api.Link, error) { return a.server.NewLink() }
