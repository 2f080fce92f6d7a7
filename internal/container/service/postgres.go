package service

import (
	"cmp"
	"net/url"
	"strings"

	"company/internal/toolbox/toolproto"
)

// postgres does not sync, because its disk is memory anyway. It accepts every password, so that tests
// may use any.
var postgres = server{
	name: "postgres", title: "Postgres", product: "Postgres", version: "15", port: 5432,
	hosts:    []string{"postgres", "postgresql", "db"},
	packages: []string{"postgresql-15"},
	program:  "initdb",
	prepare:  preparePostgres,
	start:    `postgres -D "$dir/data"`,
	ready:    `pg_isready -q -h 127.0.0.1 -p 5432 -U postgres -d postgres`,
	runLink:  "postgresql",
	env: func(a Account) map[string]string {
		a = a.forPostgres()
		address := url.URL{Scheme: "postgres", User: url.UserPassword(a.User, a.Password), Host: "127.0.0.1:5432",
			Path: "/" + a.Database, RawQuery: "sslmode=disable"}
		return map[string]string{
			"PGHOST": "127.0.0.1", "PGPORT": "5432", "PGUSER": a.User, "PGPASSWORD": a.Password, "PGDATABASE": a.Database,
			"PGSSLMODE":     "disable",
			"POSTGRES_HOST": "127.0.0.1", "POSTGRES_PORT": "5432", "POSTGRES_USER": a.User, "POSTGRES_PASSWORD": a.Password,
			"POSTGRES_DB":  a.Database,
			"DATABASE_URL": address.String(), "POSTGRES_URL": address.String(),
		}
	},
}

// forPostgres sets the defaults of Docker's Postgres image.
func (a Account) forPostgres() Account {
	a.User = cmp.Or(a.User, "postgres")
	a.Password = cmp.Or(a.Password, "postgres")
	a.Database = cmp.Or(a.Database, a.User)
	return a
}

const postgresSettings = `
listen_addresses = 'localhost'
port = 5432
unix_socket_directories = '` + toolproto.ServicesDir + `/postgres'
dynamic_shared_memory_type = mmap
shared_buffers = 64MB
max_connections = 200
fsync = off
synchronous_commit = off
full_page_writes = off
min_wal_size = 8MB
max_wal_size = 128MB
timezone = 'UTC'
log_timezone = 'UTC'
`

// preparePostgres returns a script that creates a cluster with the usual account and that of the
// project. Small log segments keep copies of the cluster small. With -j a semicolon and an empty line
// end a statement.
func preparePostgres(account Account) string {
	account = account.forPostgres()
	sql := ""
	if account.User != "postgres" {
		sql += `CREATE ROLE "` + account.User + `" SUPERUSER LOGIN;` + "\n"
	}
	sql += `ALTER ROLE "` + account.User + `" PASSWORD '` + account.Password + `';` + "\n"
	if account.Database != "postgres" {
		sql += `CREATE DATABASE "` + account.Database + `" OWNER "` + account.User + `";` + "\n"
	}
	return "set -e\ninitdb -D data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --wal-segsize=1 --no-sync >initdb.log " +
		"2>&1 || { cat initdb.log; exit 1; }\n" +
		"cat >>data/postgresql.conf <<'END'\n" + postgresSettings + "END\n" +
		"postgres --single -j -D data postgres >single.log 2>&1 <<'END'\n" + strings.ReplaceAll(sql, "\n", "\n\n") + "END\n" +
		"if grep -E 'ERROR|FATAL|PANIC' single.log; then exit 1; fi\nrm -f data/postmaster.pid data/postmaster.opts\n"
}
