package service

// mosquitto allows all clients and stores no data.
var mosquitto = server{
	name: "mosquitto", title: "Mosquitto", product: "Mosquitto", version: "2.0", port: 1883,
	hosts:    []string{"mosquitto", "mqtt"},
	packages: []string{"mosquitto"},
	program:  "mosquitto",
	start:    `mosquitto -c "$files/mosquitto.conf"`,
	ready:    listensAt("1883"),
	files: func(Account) map[string]string {
		return map[string]string{"mosquitto.conf": "listener 1883 127.0.0.1\nallow_anonymous true\npersistence false\n"}
	},
	env: func(Account) map[string]string {
		return map[string]string{"MQTT_HOST": "127.0.0.1", "MQTT_PORT": "1883", "MQTT_URL": "mqtt://127.0.0.1:1883"}
	},
}
