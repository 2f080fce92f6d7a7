package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

// T19: an address that other machines reach needs TLS, and half a pair of files is none.
// Each refusal names its key and what to set.
func TestServeAddresses(t *testing.T) {
	const pair = ", tls_cert: /c.pem, tls_key: /k.pem"
	for serve, want := range map[string]string{
		`listen: ""`:                        "",
		`listen: 127.0.0.1:7777`:            "",
		`listen: 127.8.8.8:7777`:            "",
		`listen: "[::1]:7777"`:              "",
		`listen: 0.0.0.0:7777`:              "serve.listen can be reached from other machines",
		`listen: "[::]:7777"`:               "serve.listen can be reached from other machines",
		`listen: 192.0.2.1:7777`:            "serve.listen can be reached from other machines",
		`listen: "[::ffff:127.0.0.1]:7777"`: "",
		`listen: 0.0.0.0:7777` + pair:       "",
		`listen: localhost:7777`:            "serve.listen is not an address and a port",
		`listen: ":7777"`:                   "serve.listen is not an address and a port",
		`listen: 127.0.0.1:0`:               "", // a free port
		`tls_cert: /c.pem`:                  "serve.tls_cert is set, and serve.tls_key is not",
		`tls_key: /k.pem`:                   "serve.tls_key is set, and serve.tls_cert is not",
		`hosts: [company.example.com]`:      "",
		`hosts: ["company.example.com:88"]`: "",
		`hosts: ["https://a.example.com"]`:  "serve.hosts",
		`hosts: ["*.example.com"]`:          "serve.hosts",
		`hosts: [Company.example.com]`:      "serve.hosts",
		`token_env: "not a name"`:           "serve.token_env is not the name of a variable",
	} {
		_, err := Load(t.Context(), LoadOptions{OfficeDir: configtest.Office(t, "serve: {"+serve+"}\n"), trial: anyTrust})
		if want == "" && err != nil ||
			want != "" && (company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", serve, err, want)
		}
	}
}

// T23: what a repository says about the address needs trust, and a key that others can
// read is refused.
func TestServeNeedsTrust(t *testing.T) {
	for _, key := range []string{"serve.listen", "serve.hosts", "serve.token_env", "serve.tls_cert", "serve.tls_key"} {
		if !needsTrust(key, `"a"`, `"b"`, Default(), Default()) {
			t.Errorf("a repository sets %s", key)
		}
	}
	key := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(key, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, "serve: {tls_cert: /c.pem, tls_key: "+key+"}\n")})
	if err := l.CheckKeyFiles(); company.CodeOf(err) != company.EConfig ||
		!strings.Contains(err.Error(), "serve.tls_key holds keys and can be read by others") {
		t.Errorf("a key that all can read: %v", err)
	}
}
