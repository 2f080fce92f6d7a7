package service

import (
	"cmp"
	"net/url"
)

// rabbitmq is started directly by its own script, because Debian's requires root.
var rabbitmq = server{
	name: "rabbitmq", title: "RabbitMQ", product: "RabbitMQ", version: "3.10", port: 5672,
	hosts:    []string{"rabbitmq", "rabbit"},
	packages: []string{"rabbitmq-server"},
	program:  "rabbitmq-server",
	// Erlang creates the cookie of its nodes in the home folder.
	start: `env HOME="$dir" RABBITMQ_NODENAME=rabbit@localhost RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_DIST_PORT=25672 ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_MNESIA_BASE="$dir/mnesia" RABBITMQ_LOG_BASE="$dir/logs" RABBITMQ_LOGS=-` +
		` RABBITMQ_PID_FILE="$dir/pid" RABBITMQ_ENABLED_PLUGINS_FILE="$files/enabled_plugins" RABBITMQ_CONFIG_FILE="$files/rabbitmq.conf" RABBITMQ_CONF_ENV_FILE=/dev/null /usr/lib/rabbitmq/bin/rabbitmq-server`,
	ready: listensAt("5672"),
	files: func(a Account) map[string]string {
		a = a.forRabbitMQ()
		return map[string]string{
			"enabled_plugins": "[].\n",
			"rabbitmq.conf": "default_user = " + a.User + "\ndefault_pass = " + a.Password + "\ndefault_vhost = " +
				a.virtualHost() + "\nloopback_users = none\nvm_memory_high_watermark.absolute = 256MB\ndisk_free_limit.absolute " +
				"= 1MB\n",
		}
	},
	env: func(a Account) map[string]string {
		a = a.forRabbitMQ()
		address := url.URL{Scheme: "amqp", User: url.UserPassword(a.User, a.Password), Host: "127.0.0.1:5672",
			Path: "/" + a.Database}
		return map[string]string{
			"RABBITMQ_HOST": "127.0.0.1", "RABBITMQ_PORT": "5672", "RABBITMQ_USER": a.User, "RABBITMQ_PASSWORD": a.Password,
			"AMQP_URL": address.String(), "RABBITMQ_URL": address.String(), "CELERY_BROKER_URL": address.String(),
		}
	},
}

// forRabbitMQ sets the defaults of Docker's RabbitMQ image. Database is the virtual host.
func (a Account) forRabbitMQ() Account {
	a.User = cmp.Or(a.User, "guest")
	a.Password = cmp.Or(a.Password, "guest")
	return a
}

func (a Account) virtualHost() string { return cmp.Or(a.Database, "/") }
