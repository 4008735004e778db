"""What several tests need: the emulator of kernel launches and the runner of ``# run:`` lines."""
