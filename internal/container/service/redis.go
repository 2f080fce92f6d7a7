package service

// redis stores no data on disk: each container starts with an empty one.
var redis = server{
	name: "redis", title: "Redis", product: "Redis", version: "7.0", port: 6379,
	hosts:    []string{"redis"},
	packages: []string{"redis-server"},
	program:  "redis-server",
	start:    `redis-server --bind 127.0.0.1 -::1 --port 6379 --save "" --appendonly no --daemonize no --dir "$dir"`,
	ready:    `redis-cli -h 127.0.0.1 -p 6379 ping`,
	env: func(Account) map[string]string {
		return map[string]string{"REDIS_URL": "redis://127.0.0.1:6379/0", "REDIS_HOST": "127.0.0.1", "REDIS_PORT": "6379"}
	},
}
