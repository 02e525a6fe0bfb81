/* operator/commands.h - one function a command; each in the file of its name */
#pragma once

int approve_command(int argc, char **argv);
int audit_command(int argc, char **argv);
int cancel_command(int argc, char **argv);
int explain_command(int argc, char **argv);
int install_command(int argc, char **argv);
int pause_command(int argc, char **argv);
int reap_command(int argc, char **argv);
int resolve_command(int argc, char **argv);
int resume_command(int argc, char **argv);
int run_command(int argc, char **argv);
int seal_command(int argc, char **argv);
int tell_command(int argc, char **argv);
int list_command(int argc, char **argv);
int policy_command(int argc, char **argv);
int show_command(int argc, char **argv);
int uninstall_command(int argc, char **argv);
int upgrade_command(int argc, char **argv);
int verbs_command(int argc, char **argv);
int status_command(int argc, char **argv);
int doctor_command(int argc, char **argv);
