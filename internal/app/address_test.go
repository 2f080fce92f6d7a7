package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/api"
	"company/internal/company"
	"company/internal/office/config"
	"company/internal/present/view"
)

// emptyOffice has a state and nothing else.
type emptyOffice struct{ api.Office }

func (emptyOffice) Source() view.Source {
	return view.Source{State: company.NewState(), Now: time.Now()}
}

// openTestAddress opens the address of a config with these variables; without an error it
// serves until the test ends.
func openTestAddress(t *testing.T, serve config.Serve, env map[string]string) (*App, error) {
	t.Helper()
	if serve.Listen == "" {
		serve.Listen = "127.0.0.1:0"
	}
	a := &App{loaded: config.Loaded{Config: config.Config{Serve: serve},
		Origin: map[string]string{"serve.listen": config.OriginDefault}},
		env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	srv := api.New(emptyOffice{}, api.ServerInfo{Version: "test", Serving: true}, slog.New(slog.DiscardHandler), nil)
	if err := a.openAddress(srv); err != nil {
		return a, err
	}
	socket, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	srv.Start(socket)
	t.Cleanup(srv.Stop)
	return a, nil
}

// askHello gives the status of a request with a token.
func askHello(t *testing.T, client *http.Client, address, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/api/v1/hello", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	client.CloseIdleConnections()
	return resp.StatusCode
}

// T19: the token of serve.token_env lets programs in, and no other does. One that is not set,
// or is short enough to be guessed, keeps the company from serving; the error names the
// variable and how to set it, and not its value.
func TestProgramToken(t *testing.T) {
	const good = "0123456789abcdef"
	for value, why := range map[string]string{"": "COMPANY_TEST_TOKEN is NOT SET", " \n": "COMPANY_TEST_TOKEN is NOT SET",
		good[1:]: "COMPANY_TEST_TOKEN has fewer than 16 characters", good[1:] + "\n": "has fewer than 16 characters"} {
		a, err := openTestAddress(t, config.Serve{TokenEnv: "COMPANY_TEST_TOKEN"},
			map[string]string{"COMPANY_TEST_TOKEN": value})
		if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), why) || a.Address() != "" {
			t.Errorf("%q: %v, want %s", value, err, why)
			continue
		}
		if token := strings.TrimSpace(value); token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("the error tells the token: %v", err)
		}
	}
	if _, err := openTestAddress(t, config.Serve{TokenEnv: "COMPANY_TEST_TOKEN"}, nil); company.CodeOf(
		err) != company.EConfig {
		t.Errorf("no variable: %v", err)
	}
	a, err := openTestAddress(t, config.Serve{TokenEnv: "COMPANY_TEST_TOKEN"},
		map[string]string{"COMPANY_TEST_TOKEN": good + "\n"})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]int{good: 200, good[1:]: 401, good + "x": 401, "": 401} {
		if got := askHello(t, &http.Client{Transport: &http.Transport{}}, a.Address(), token); got != want {
			t.Errorf("token %q: %d, want %d", token, got, want)
		}
	}
	a, err = openTestAddress(t, config.Serve{}, map[string]string{"": good})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"", good} {
		if got := askHello(t, &http.Client{Transport: &http.Transport{}}, a.Address(), token); got != 401 {
			t.Errorf("without serve.token_env %q gets %d", token, got)
		}
	}
}

// T19: where another process has the usual port first, programs would send it their token:
// with serve.token_env the company does not serve elsewhere then, and says so. A browser
// follows the link, so that without a token for programs a free port serves as well.
func TestTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := taken.Addr().String()
	a, err := openTestAddress(t, config.Serve{Listen: at, TokenEnv: "T"}, map[string]string{"T": "0123456789abcdef"})
	var fault *company.Error
	if !errors.As(err, &fault) || fault.Code != company.EConfig ||
		fault.Message != "cannot listen on "+at+" (serve.listen)" ||
		fault.Hint != "use a free port: company serve --set serve.listen=127.0.0.1:0" || a.Address() != "" {
		t.Errorf("with a token for programs: %s %v", a.Address(), err)
	}
	if a, err = openTestAddress(t, config.Serve{Listen: at}, nil); err != nil || a.Address() == "" ||
		a.Address() == "http://"+at {
		t.Errorf("without one: %s %v", a.Address(), err)
	}
}

// T19: serve.tls_cert and serve.tls_key are served, and files that are no pair are an error
// that names both keys.
func TestFilesOfTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pattern := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, pattern, pattern, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	serve := config.Serve{TLSCert: filepath.Join(dir, "c.pem"), TLSKey: filepath.Join(dir, "k.pem"), TokenEnv: "T"}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, text := range map[string][]byte{serve.TLSCert: certificate,
		serve.TLSKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"T": "0123456789abcdef"}
	a, err := openTestAddress(t, serve, env)
	if err != nil || !strings.HasPrefix(a.Address(), "https://127.0.0.1:") {
		t.Fatalf("%s %v", a.Address(), err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	if got := askHello(t, &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}},
		a.Address(), env["T"]); got != 200 {
		t.Errorf("over TLS: %d", got)
	}
	serve.TLSKey = serve.TLSCert
	if _, err := openTestAddress(t, serve, env); company.CodeOf(err) != company.EConfig ||
		!strings.Contains(err.Error(), "cannot use serve.tls_cert and serve.tls_key") {
		t.Errorf("no pair: %v", err)
	}
}
