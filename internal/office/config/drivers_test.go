package config_test

import (
	"os"
	"testing"

	"company/internal/office/config"
)

func TestMain(m *testing.M) {
	config.NameDrivers("bus", []string{"nats", "file"})
	config.NameDrivers("forge", []string{"github", "gitea"})
	config.NameDrivers("adapter", []string{"anthropic", "cli", "ollama", "openai", "scripted"})
	os.Exit(m.Run())
}
