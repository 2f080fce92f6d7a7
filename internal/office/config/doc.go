// Package config reads company.yaml, with one strict schema for file, environment and flags.
//
// It defines the schema (Config, Schema) and the draft of a first file (ConfigDraft). Load reads the config, and
// records the source of each value. Its errors give the position, the value found, the allowed values and the nearest
// key. Trust and ReviewTrust decide which settings of a company.yaml need the president's trust.
//
// A Config that Load returned is valid, and contains no settings from an untrusted file. The package does not use the
// network, Docker or models. It stores no secrets: the config names the variables that hold keys.
package config
