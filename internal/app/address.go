package app

import (
	"crypto/tls"
	"strings"

	"company/internal/api"
	"company/internal/company"
	"company/internal/config"
	"company/internal/page"
	"company/internal/secret"
)

// minProgramToken is how many characters the token of programs has at least.
const minProgramToken = 16

// openAddress has the server answer browsers and programs over TCP, where the config has an
// address for that.
func (a *App) openAddress(srv *api.Server) error {
	cfg := a.loaded.Config.Serve
	if cfg.Listen == "" {
		return nil
	}
	// Programs that know the usual port would send their token to the process that has it.
	anyPort := a.loaded.Origin["serve.listen"] == config.OriginDefault && cfg.TokenEnv == ""
	o := api.TCPOptions{Listen: cfg.Listen, AnyPort: anyPort, Hosts: cfg.Hosts, Page: page.Handler()}
	if cfg.TokenEnv != "" {
		token := strings.TrimSpace(a.envValue(cfg.TokenEnv))
		if len(token) < minProgramToken {
			state := "is NOT SET"
			if token != "" {
				state = "has fewer than 16 characters"
			}
			return company.E(company.EConfig, "programs cannot be let in by serve.token_env").Because(cfg.TokenEnv + " " + state).
				Fix("export " + cfg.TokenEnv + "=$(openssl rand -hex 32), or remove serve.token_env")
		}
		o.Program = secret.New(token)
	}
	if cfg.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
		if err != nil {
			return company.E(company.EConfig, "serve.tls_cert and serve.tls_key cannot be used").Wrap(err).Fix("name PEM files of a certificate and its key")
		}
		o.TLS = &pair
	}
	address, err := srv.ListenTCP(o)
	a.address = address
	return err
}

// Address is where browsers and programs find the office of this process; empty: nowhere.
func (a *App) Address() string { return a.address }

// NewLink makes a link by which a browser gets into the office of this process once.
// EConflict: it has no address.
func (a *App) NewLink() (api.Link, error) { return a.server.NewLink() }
