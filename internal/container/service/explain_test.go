package service

import (
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// Clients of several languages that find no server lead to the one line that has it.
func TestRefusedConnectionsAreExplained(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestX\n    dial tcp 127.0.0.1:5432: connect: connection refused\n": "[postgres]",
		"psycopg2.OperationalError: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection " +
			"refused\n": "[postgres]",
		"Error: connect ECONNREFUSED 127.0.0.1:6379\n":     "[redis]",
		"dial tcp [::1]:3306: connect: connection refused": "[mysql]",
		"org.postgresql.util.PSQLException: Connection to localhost:5432 refused. Check that the hostname and port are " +
			"correct": "[postgres]",
		"Error: getaddrinfo ENOTFOUND redis\n":                                                      "[redis]",
		"could not translate host name \"db\" to address: Name or service not known\n":              "",
		"dial tcp: lookup registry.example.com: no such host\n":                                     "",
		"pika.exceptions.AMQPConnectionError: [Errno 111] Connection refused ('127.0.0.1', 5672)\n": "[rabbitmq]",
		"dial tcp 127.0.0.1:9999: connect: connection refused\n":                                    "",
		"the port is 5432\nconnection refused elsewhere\n":                                          "",
		"dial tcp 127.0.0.1:15432: connect: connection refused\n":                                   "",
		"redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.\nand more of " +
			"it\nand more\n": "[redis]",
		"psql: error: connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  no such database\n": "",
		"dial tcp 127.0.0.1:5432: connect: connection refused\n" + toolproto.ServiceEnded + "postgres]\n":  "",
	} {
		if got := ExplainOutput(output); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
