package service

import (
	"cmp"
	"net/url"
	"strings"

	"company/internal/toolbox/toolproto"
)

// mysql is MariaDB, which Debian provides instead of MySQL.
var mysql = server{
	name: "mysql", title: "MySQL (MariaDB)", product: "MariaDB", version: "10.11", port: 3306,
	hosts:    []string{"mysql", "mariadb", "db"},
	packages: []string{"mariadb-client", "mariadb-server-core"},
	program:  "mariadb-install-db",
	prepare: func(Account) string {
		return "set -e\nmariadb-install-db --no-defaults --datadir=$PWD/data --auth-root-authentication-method=normal " +
			"--skip-test-db " + mysqlSettings +
			" >install.log 2>&1 || { cat install.log; exit 1; }\n"
	},
	start: `mariadbd --no-defaults --datadir="$dir/data" --socket="$dir/mysqld.sock" --pid-file="$dir/pid" --init-file="$files/accounts.sql" --bind-address=127.0.0.1 --port=3306` +
		` --skip-name-resolve --character-set-server=utf8mb4 --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0 --tmpdir=/tmp ` + mysqlSettings,
	ready: `mariadb-admin --no-defaults --protocol=tcp --host=127.0.0.1 --port=3306 --user=ready ping`,
	files: func(a Account) map[string]string {
		return map[string]string{"accounts.sql": mysqlAccounts(a.forMySQL())}
	},
	runLink: "mysqld",
	env: func(a Account) map[string]string {
		a = a.forMySQL()
		address := url.URL{Scheme: "mysql", User: url.UserPassword(a.User, a.Password), Host: "127.0.0.1:3306",
			Path: "/" + a.Database}
		if a.Password == "" {
			address.User = url.User(a.User)
		}
		return map[string]string{
			"MYSQL_HOST": "127.0.0.1", "MYSQL_PORT": "3306", "MYSQL_TCP_PORT": "3306",
			"MYSQL_UNIX_PORT": toolproto.ServicesDir + "/mysql/mysqld.sock",
			"MYSQL_USER":      a.User, "MYSQL_PASSWORD": a.Password, "MYSQL_PWD": a.Password, "MYSQL_DATABASE": a.Database,
			"MYSQL_ROOT_PASSWORD": a.AdminPassword,
			"DATABASE_URL":        address.String(), "MYSQL_URL": address.String(),
		}
	},
}

// mysqlSettings keep the files small, and avoid system calls that a locked-down container lacks.
const mysqlSettings = "--innodb-log-file-size=8M --innodb-doublewrite=0 --innodb-use-native-aio=0 --skip-log-bin"

// forMySQL sets defaults: root without a password.
func (a Account) forMySQL() Account {
	if a.User == "" || a.User == "root" {
		a.User, a.Password = "root", cmp.Or(a.AdminPassword, a.Password)
		a.AdminPassword = a.Password
	}
	a.Database = cmp.Or(a.Database, "test")
	return a
}

// mysqlAccounts returns the statements that create the accounts at each start. Tests connect by
// address, by localhost, or by socket.
func mysqlAccounts(account Account) string {
	var b strings.Builder
	b.WriteString("CREATE USER IF NOT EXISTS 'ready'@'127.0.0.1';\nCREATE DATABASE IF NOT EXISTS `" +
		account.Database + "`;\n")
	give := func(user, password string) {
		for _, host := range []string{"localhost", "127.0.0.1", "%"} {
			b.WriteString("CREATE USER IF NOT EXISTS '" + user + "'@'" + host + "';\n")
			b.WriteString("ALTER USER '" + user + "'@'" + host + "' IDENTIFIED BY '" + password + "';\n")
			b.WriteString("GRANT ALL PRIVILEGES ON *.* TO '" + user + "'@'" + host + "' WITH GRANT OPTION;\n")
		}
	}
	give("root", account.AdminPassword)
	if account.User != "root" {
		give(account.User, account.Password)
	}
	b.WriteString("FLUSH PRIVILEGES;\n")
	return b.String()
}
